import Acoustics
import Foundation
import Manifolds
import TestSupport
import Testing

@Suite("Solved boxes on disk") struct BoxSolutionsTests {
  let folder: TemporaryFolder
  let solutions: BoxSolutions
  private let size: SIMD3<Double> = [0.03, 0.04, 0.008]
  private let positions: [Position] = [[0, 0.02, 0], [0.005, -0.02, 0]]

  init() throws {
    folder = try TemporaryFolder()
    solutions = BoxSolutions(folder: folder.path + "/bodies")
  }

  private func manifold(_ solutions: BoxSolutions?) throws -> BoxManifold {
    try BoxManifold(positions: positions, size: size, solutions: solutions)
  }

  /// Responses as bits, from directions and at frequencies that the solution did not have.
  private func bits(_ manifold: BoxManifold) -> [UInt64] {
    let directions: [SIMD3<Double>] = [[1, 0, 0], [0, 0.6, 0.8], [-0.6, 0, -0.8]]
    return manifold.responses(from: directions, frequencies: [100, 1234, 9876, 20_000]).values.flatMap {
      [$0.real.bitPattern, $0.imaginary.bitPattern]
    }
  }

  private var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: solutions.folder)) ?? []).sorted()
  }

  @Test("a stored solution gives the responses of a new one to the bit, at least 3 times sooner")
  func stored() throws {
    let clock = ContinuousClock()
    var results: [[UInt64]] = []
    let plain = bits(try manifold(nil))
    let times = try (0..<2).map { _ in try clock.measure { results.append(bits(try manifold(solutions))) } }
    #expect(results == [plain, plain])
    #expect(times[0] > times[1] * 3, "\(times)")
    #expect(files.count == 1 && files[0].hasSuffix(".box"))
  }

  @Test("a file that is cut, changed in one byte, empty, or another box's is solved again and replaced")
  func broken() throws {
    let whole = bits(try manifold(solutions))
    let path = solutions.folder + "/" + (try #require(files.first))
    let data = try Data(contentsOf: URL(filePath: path))
    var changed = data
    changed[data.count / 2] ^= 1
    let other = BoxSolutions(folder: folder.path + "/other")
    _ = try BoxManifold(positions: [positions[1]], size: size, solutions: other)
    let others = try FileManager.default.contentsOfDirectory(atPath: other.folder)
    let foreign = try Data(contentsOf: URL(filePath: other.folder + "/" + others[0]))
    for broken in [data.prefix(data.count / 2), data.prefix(20), changed, Data(), foreign] {
      try broken.write(to: URL(filePath: path))
      #expect(bits(try manifold(solutions)) == whole)
      #expect(try Data(contentsOf: URL(filePath: path)) == data)
    }
  }

  @Test("what the weights depend on is in the key: size, each position, each parameter")
  func key() {
    func key(_ positions: [Position], _ size: SIMD3<Double>, _ parameters: DesignParameters.Box) -> String {
      BoxSolutions.key(positions: positions, size: size, parameters: parameters)
    }
    let base = key(positions, size, .init())
    #expect(base == key(positions, size, .init()))
    let parameters = Mirror(reflecting: DesignParameters.Box()).children
    for child in parameters { #expect(base.contains("\(child.label ?? "") \(child.value)")) }
    #expect(base != key(positions.reversed(), size, .init()))
    #expect(base != key(positions, size + [0, 0, 1e-12], .init()))
    #expect(base != key(positions, size, BoxManifold.reference))
  }

  @Test("several that solve the same box at a time get the same, and leave one whole file", .long)
  func concurrent() async throws {
    let expected = bits(try manifold(nil))
    try await withThrowingTaskGroup(of: [UInt64].self) { group in
      for _ in 0..<4 { group.addTask { bits(try manifold(solutions)) } }
      for try await one in group { #expect(one == expected) }
    }
    #expect(files.count == 1)
    #expect(bits(try manifold(solutions)) == expected)
  }

  @Test("beyond its limit the folder loses the files that were not used for longest")
  func limit() throws {
    _ = try manifold(solutions)
    let path = solutions.folder + "/" + (try #require(files.first))
    let bytes = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    let small = BoxSolutions(folder: solutions.folder, sizeLimit: bytes * 3 / 2)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -1000)], ofItemAtPath: path)
    _ = try BoxManifold(positions: positions.reversed(), size: size, solutions: small)
    #expect(files.count == 1 && !FileManager.default.fileExists(atPath: path))
  }

  @Test("a folder that cannot be written changes nothing but the time")
  func unwritable() throws {
    #expect(bits(try manifold(BoxSolutions(folder: "/proc/nosuch"))) == bits(try manifold(nil)))
  }
}
