import Foundation
import TestSupport
import Testing

/// The numbers that names of tests cite, such as R29, and the page with their texts.
@Suite("docs/specification.md") struct SpecificationTests {
  @Test("every S, R and A number that a test's name cites has one line in the specification")
  func isComplete() throws {
    let lines = try Page("docs/specification.md").text.split(separator: "\n")
    let listed = lines.compactMap { $0.prefixMatch(of: #/- ([SRA][0-9]+): \S/#).map { String($0.output.1) } }
    #expect(listed.count == Set(listed).count, "a number has two lines")
    let cited = try Self.citedNumbers()
    #expect(cited.count > 60)
    for (number, name) in cited.sorted(by: { $0.key < $1.key }) {
      #expect(listed.contains(number), "\(number) is cited by the test “\(name)”")
    }
  }

  @Test("the numbers of a test's name are found")
  func namesAreScanned() {
    let source = """
      @Test("S7, S8: omnidirectional uses one microphone") func one() {}
      @Test(
        "A14: filters are \\"found\\" (R2)", .enabled(if: true))
      @Suite("R29: a disk that hangs") struct Disk { let text = "S99" }
      """
    #expect(Self.names(in: source).flatMap(Self.numbers) == ["S7", "S8", "A14", "R2", "R29"])
  }

  /// Every number that the name of a test or suite cites, with one such name.
  private static func citedNumbers() throws -> [String: String] {
    let folder = repositoryFolder + "/Tests"
    var cited: [String: String] = [:]
    for case let file as String in try #require(FileManager.default.enumerator(atPath: folder))
    where file.hasSuffix(".swift") && !file.hasSuffix("/SpecificationTests.swift") {
      for name in names(in: try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)) {
        for number in numbers(name) { cited[number] = name }
      }
    }
    return cited
  }

  private static func names(in source: String) -> [String] {
    source.matches(of: #/@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"/#).map { String($0.output.1) }
  }

  private static func numbers(_ name: String) -> [String] {
    name.matches(of: #/\b[SRA][0-9]+\b/#).map { String($0.output) }
  }
}
