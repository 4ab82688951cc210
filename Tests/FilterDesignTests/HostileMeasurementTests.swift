import Acoustics
import AudioFiles
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

/// R16: hostile and broken measurements are refused in one sentence that names the file, in bounded time.
@Suite("Hostile and broken measurements") struct HostileMeasurementTests {
  static let positions: [Position] = [[0, 0, 0.03], [0.02, 0, 0], [-0.01, 0.025, -0.01]]

  /// The sentence with which `measurement` is refused.
  static func refusal(_ measurement: ArrayMeasurement, _ positions: [Position] = positions) -> String {
    let error = #expect(throws: DesignError.self) {
      _ = try MeasuredManifold(measurement, positions: positions)
    }
    let message = error?.description ?? ""
    #expect(!message.contains { $0.isNewline } && message.contains(";") && message.count < 600, "\(message)")
    return message
  }

  @Test("more responses than memory has room for spectra of are refused before any is computed")
  func tooMany() throws {
    let folder = try TemporaryFolder()
    let lines = fibonacciSphere(90_000).map { d in "\(atan2(d.y, d.x) * 180 / .pi),\(asin(d.z) * 180 / .pi)\n"
    }
    let table = try folder.write(lines.joined(), to: "many.csv")
    let ones = [[Float]](repeating: [Float](repeating: 0.5, count: lines.count), count: 3)
    try AudioClip(sampleRate: 48000, channels: ones).write(wav: folder.path + "/many.wav")
    let refusal = Self.refusal(.impulseResponses(path: folder.path + "/many.wav", directions: table))
    #expect(refusal.contains("many.wav contains 270000 responses"), "\(refusal)")
  }

  // MARK: - SOFA

  static let turned = try! Data(contentsOf: URL(filePath: MeasuredManifoldTests.golden + "/turned.sofa"))

  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let complaint: String
    let apply: @Sendable (inout Data) -> Void

    init(_ name: String, _ complaint: String, _ apply: @escaping @Sendable (inout Data) -> Void) {
      (testDescription, self.complaint, self.apply) = (name, complaint, apply)
    }

    /// Replaces every `old` by `new` of the same length.
    static func replace(_ old: Data, _ new: Data, in data: inout Data) {
      precondition(old.count == new.count && data.range(of: old) != nil)
      while let range = data.range(of: old) { data.replaceSubrange(range, with: new) }
    }
    static func replace(_ old: String, _ new: String, in data: inout Data) {
      replace(Data(old.utf8), Data(new.utf8), in: &data)
    }
    static func replace(_ old: Double, _ new: Double, in data: inout Data) {
      replace(withUnsafeBytes(of: old) { Data($0) }, withUnsafeBytes(of: new) { Data($0) }, in: &data)
    }
    /// The dimension's length is part of its name's text.
    static func dimension(_ old: Int, _ new: String, in data: inout Data) {
      let text = "This is a netCDF dimension but not a netCDF variable."
      let digits = String(old)
      replace(
        text + String(repeating: " ", count: 10 - digits.count) + digits,
        text + String(repeating: " ", count: 10 - new.count) + new, in: &data)
    }
  }

  static let damages = [
    Damage("text", "is not a SOFA file: it does not begin like one (HDF5)") {
      $0 = Data("azimuth, elevation\n0, 0\n".utf8)
    },
    Damage("nothing", "is empty; give a SOFA file") { $0 = Data() },
    Damage("zeros", "is not a SOFA file: it does not begin like one") { $0 = Data(count: 5000) },
    Damage("its first 8 bytes", "ends before its end") { $0 = $0.prefix(8) },
    Damage("its first half", "ends before its end") { $0 = $0.prefix($0.count / 2) },
    Damage("another type of data", "has data of type \"TFX\", not \"FIR\"") {
      Damage.replace("FIR", "TFX", in: &$0)
    },
    Damage("no receivers", "turned.sofa ") {
      Damage.dimension(3, "0", in: &$0)
    },
    Damage("negative counts", "turned.sofa ") { Damage.dimension(100, "-5", in: &$0) },
    Damage("huge dimensions", "contains 600000000000 samples, more than") {
      Damage.dimension(8, "2000000000", in: &$0)
    },
    Damage("more samples than there are", "does not contain 9 samples for each of") {
      Damage.dimension(8, "9", in: &$0)
    },
    Damage("samples that are no numbers", "contains invalid values") {
      Damage.replace(0.5, .nan, in: &$0)
    },
    Damage("samples without end", "contains invalid values") { Damage.replace(0.5, 1e30, in: &$0) },
    Damage("only silence", "is silent in direction 1, microphone 1") { Damage.replace(0.5, 0, in: &$0) },
    Damage("a rate that is no number", "has no single sample rate") { Damage.replace(44_100, .nan, in: &$0) },
    Damage("a rate of 1 Hz", "has no single sample rate from 8000 to 400000 Hz") {
      Damage.replace(44_100, 1, in: &$0)
    },
    Damage("sources in the listener", "has no valid source direction for measurement 1") {
      Damage.replace(1.5, 0, in: &$0)
    },
    Damage("what libmysofa never ends with", "libmysofa crashed or ran out of time or memory") {
      $0[16539] = 255
    },
  ]

  @Test("a damaged SOFA file is refused in one sentence", arguments: damages)
  func sofa(_ damage: Damage) throws {
    let folder = try TemporaryFolder()
    var data = Self.turned
    damage.apply(&data)
    let path = try folder.write(data, to: "turned.sofa")
    var message = ""
    let time = ContinuousClock().measure { message = Self.refusal(.sofa(path: path)) }
    #expect(message.hasPrefix(path + " ") && message.contains(damage.complaint), "\(message)")
    // The reader is limited to 2 s of processor time; other programs use the machine, too.
    #expect(time < .seconds(30))
  }

  @Test("a SOFA file with random bytes is read or refused in one line", arguments: [1, 2] as [UInt64])
  func fuzz(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    var random = SeededNoise(seed: seed)
    for _ in 0..<20 {
      var data = Self.turned
      for _ in 0..<3 {
        data[Int.random(in: 0..<data.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      let path = try folder.write(data, to: "f.sofa")
      do { _ = try MeasuredManifold(.sofa(path: path), positions: Self.positions) } catch {
        #expect(error.description.hasPrefix(path + " ") && !error.description.contains { $0.isNewline })
      }
    }
  }

  @Test("special and very large files are refused without waiting for them")
  func specialFiles() throws {
    let folder = try TemporaryFolder()
    let fifo = folder.path + "/fifo"
    try #require(mkfifo(fifo, 0o600) == 0)
    let sparse = try folder.write("", to: "sparse")
    try #require(truncate(sparse, 10 << 30) == 0)
    let table = try folder.write("0, 0\n", to: "t.csv")
    for (path, complaint) in [
      (fifo, "is not a regular file; give"), (folder.path, "is not a regular file; give"),
      ("/dev/zero", "is not a regular file; give"), (folder.path + "/none", "there is no such file"),
      (sparse, "is larger than 1024 MiB; give"), (folder.path + "/a\0b", "a path with a NUL"),
    ] {
      let message = Self.refusal(.sofa(path: path))
      #expect(message.contains(complaint), "\(message)")
      #expect(Self.refusal(.impulseResponses(path: path, directions: table)).contains(complaint))
    }
    #expect(Self.refusal(.impulseResponses(path: table, directions: fifo)).contains("not a regular file"))
    #expect(Self.refusal(.impulseResponses(path: table, directions: sparse)).contains("is larger than 4 MiB"))
  }

  @Test("a measurement of other microphones is refused with what to check")
  func mismatch() throws {
    let path = MeasuredManifoldTests.golden + "/turned.sofa"
    #expect(
      Self.refusal(.sofa(path: path), Array(Self.positions.prefix(2)))
        .contains("contains responses of 3 microphones, but the device has 2; list all"))
    var swapped = Self.positions
    swapped.swapAt(0, 1)
    #expect(
      Self.refusal(.sofa(path: path), swapped).contains(
        "do not fit the x coordinates of the microphones; check the order"))
    let mirrored = Self.positions.map { $0 * [-1, 1, 1] }
    #expect(
      Self.refusal(.sofa(path: path), mirrored).contains(
        "do not fit the x coordinates of the microphones; check"))
    let upsideDown = Self.positions.map { $0 * [1, -1, 1] }
    #expect(
      Self.refusal(.sofa(path: path), upsideDown).contains(
        "do not fit the y coordinates of the microphones; check"))
  }

  // MARK: - WAV and table

  static let free = FreeFieldManifold(positions: positions)
  static let good = try! MeasuredFiles(free, directions: fibonacciSphere(40))

  func refusal(
    wav: (inout [[Float]]) -> Void = { _ in }, rate: Int = 48_000, table: (String) -> String = { $0 }
  ) throws
    -> String
  {
    let folder = try TemporaryFolder()
    var channels = try AudioClip(path: Self.good.wav).channels
    wav(&channels)
    let path = folder.path + "/responses.wav"
    try AudioClip(sampleRate: rate, channels: channels).write(wav: path)
    let text = table(try String(contentsOfFile: Self.good.table, encoding: .utf8))
    let directions = try folder.write(text, to: "directions.csv")
    return Self.refusal(.impulseResponses(path: path, directions: directions))
      .replacingOccurrences(of: folder.path + "/", with: "")
  }

  @Test("a WAV file of wrong shape or values is refused in one sentence")
  func recordings() throws {
    _ = try MeasuredManifold(Self.good.measurement, positions: Self.positions)
    #expect(
      try refusal(wav: { $0.removeLast() }).hasPrefix(
        "responses.wav contains responses of 2 microphones, but the device has 3"))
    #expect(
      try refusal(wav: { $0 = $0.map { Array($0.dropLast()) } }).hasPrefix(
        "responses.wav has 5119 frames, which is not a multiple of the 40 directions in directions.csv; use the same"
      ))
    #expect(try refusal(wav: { $0 = $0.map { _ in [] } }).hasPrefix("responses.wav contains no samples"))
    #expect(
      try refusal(wav: { $0[1][700] = .nan }).hasPrefix("responses.wav contains invalid samples"))
    #expect(
      try refusal(wav: { $0[1][700] = -.infinity }).hasPrefix(
        "responses.wav contains invalid samples"))
    #expect(
      try refusal(wav: { for n in 128..<256 { $0[2][n] = 0 } }).hasPrefix(
        "responses.wav is silent in direction 2, microphone 3; measure that direction again"))
    #expect(
      try refusal(rate: 4000).hasPrefix("responses.wav has a sample rate of 4000 Hz; use 8000 to 400000 Hz"))
    #expect(try refusal(wav: { $0.swapAt(0, 1) }).contains("do not fit the x coordinates of the microphones"))
  }

  @Test("a truncated or invalid WAV file is refused in one sentence")
  func files() throws {
    let folder = try TemporaryFolder()
    let whole = try Data(contentsOf: URL(filePath: Self.good.wav))
    for (data, complaint) in [
      (whole.prefix(whole.count / 2), "is truncated"), (whole.prefix(20), "cannot read"),
      (Data("hello".utf8), "cannot read"), (Data(), "is empty"), (Data(count: 4096), "cannot read"),
    ] {
      let path = try folder.write(data, to: "r.wav")
      let message = Self.refusal(.impulseResponses(path: path, directions: Self.good.table))
      #expect(message.contains(path) && message.contains(complaint), "\(message)")
    }
  }

  @Test("mistakes in the table of directions are reported with their line")
  func tables() throws {
    func line(_ number: Int, _ text: String) throws -> String {
      try refusal(table: {
        var lines = $0.components(separatedBy: "\n")
        lines[number - 1] = text
        return lines.joined(separator: "\n")
      })
    }
    #expect(try line(7, "0").hasPrefix("directions.csv:7: has 1 column; write azimuth"))
    #expect(try line(7, "0, 0, 1.5, 2").hasPrefix("directions.csv:7: has 4 columns; write azimuth"))
    for wrong in [
      "left, 0", "nan, 0", "0, inf", "0x10, 0", "0, 91", "400, 0", "10,5; 120,0", "\u{1}, 2", "0, 0, far",
    ] {
      #expect(try line(7, wrong).hasPrefix("directions.csv:7: is not a direction; write azimuth"), "\(wrong)")
    }
    #expect(try line(7, "").contains("which is not a multiple of the 39 directions"))
    #expect(try refusal(table: { _ in "# nothing\n" }).hasPrefix("directions.csv contains no directions"))
    let same = String(repeating: "0, 0\n", count: 40)
    #expect(try refusal(table: { _ in same }).contains("contains no direction between azimuths 0 and 0"))
    #expect(
      try refusal(table: { _ in "0, 0\n1, 0\n" }).contains(
        "contains 2 directions, all in the horizontal plane; measure at least 12"))
    let clockwise = try refusal(table: {
      $0.split(separator: "\n").map { line in
        let numbers = line.split(separator: ", ").compactMap { Double($0) }
        return numbers.count == 2 ? "\(-numbers[0]), \(numbers[1])\n" : ""
      }.joined()
    })
    #expect(clockwise.contains("do not fit the x coordinates of the microphones"), "\(clockwise)")
  }

  @Test("too wide a gap between directions is refused with its middle")
  func gap() throws {
    let upper = fibonacciSphere(200).map { SIMD3($0.x, $0.z, $0.y) }.filter { $0.y > 0 }
    let files = try MeasuredFiles(Self.free, directions: upper)
    #expect(
      Self.refusal(files.measurement).contains(
        "elevation -88; measure so that every direction is within 60 degrees of a measured one"))
  }
}
