import AudioFiles
import Foundation
import LiveSupport
import Presets
import TestSupport
import Testing

/// A home with its own cache and a user's device whose filters are designed at once.
struct VerbHome {
  let home: PinnaHome
  var path: String { home.folder.path }
  var cacheFolder: String { path + "/cache" }

  /// - Parameter hasFilters: whether the pair's filters are in the cache.
  init(hasFilters: Bool = true) throws {
    home = try PinnaHome()
    try home.addPair()
    guard hasFilters else { return }
    try FileManager.default.copyItem(atPath: try Self.designed.get(), toPath: cacheFolder)
  }

  /// A cache with the pair's filters, designed once for all tests of this process.
  private static let designed = Result {
    let home = try VerbHome(hasFilters: false)
    let outcome = try home.pinna("design", "pair")
    guard outcome.status == 0 else { throw SupportError("\(outcome)") }
    let folder = repositoryFolder + "/.build/tests/pair-\(getpid())"
    try FileManager.default.createDirectory(
      atPath: repositoryFolder + "/.build/tests", withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: home.cacheFolder, toPath: folder)
    return folder
  }

  func pinna(_ words: [String]) throws -> Program.Outcome { try run(try PinnaHome.binary(), words, [:]) }

  func pinna(_ words: String..., environment: [String: String] = [:]) throws -> Program.Outcome {
    try run(try PinnaHome.binary(), words, environment)
  }

  /// `pinna` on a terminal. Its output includes standard error.
  func onTerminal(_ words: String, environment: [String: String] = [:]) throws -> Program.Outcome {
    try run(
      "/usr/bin/script", ["-qec", "\(try PinnaHome.binary()) \(words)", "/dev/null"],
      ["TERM": "xterm", "NO_COLOR": ""].merging(environment) { $1 })
  }

  /// A line of bash in the home's folder, where PINNA is the program.
  func shell(_ line: String) throws -> Program.Outcome {
    try run("/bin/bash", ["-c", "cd \(path) && \(line)"], ["PINNA": try PinnaHome.binary()])
  }

  /// The same, without waiting for its end.
  func startShell(_ line: String) throws -> Program {
    try Program(
      "/bin/bash", ["-c", "cd \(path) && \(line)"],
      environment: environment.merging(["PINNA": PinnaHome.binary()]) { $1 })
  }

  /// Starts a line of bash that renders a pipe, whose sound does not end, into a file, and interrupts it while it writes.
  func interrupt(_ line: String, writing file: String) throws {
    let pipe = path + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let program = try startShell(line + " <pipe")
    let writer = open(pipe, O_WRONLY)
    defer { close(writer) }
    let sound = StatedSound(.wav, .open).bytes([Int16](repeating: 100, count: 40_000), channels: 2)
    try #require(sound.withUnsafeBytes { write(writer, $0.baseAddress!, 40_000) } == 40_000)
    try #require(waitUntil(seconds: 60) { access("\(path)/\(file).part", F_OK) == 0 })
    program.signal(SIGTERM)
    let outcome = try #require(program.wait(seconds: 10))
    #expect(outcome.status == 1 && outcome.error.contains("nothing was written"), "\(outcome)")
    let stem = file.prefix { $0 != "." } + "."
    #expect(!contents(".").contains { $0.hasPrefix(stem) })
  }

  /// The environment of `pinna`.
  var environment: [String: String] { home.environment.merging(["XDG_CACHE_HOME": cacheFolder]) { $1 } }

  static let frames = 20_000
  /// Noise of two microphones, of values that 16 bits hold exactly.
  static let noise = SeededNoise.channels(2, frames, amplitude: 0.2, seed: 39).map {
    $0.map { ($0 * 32768).rounded() / 32768 }
  }
  /// The same interleaved.
  static let samples = (0..<frames).flatMap { n in noise.map { Int16($0[n] * 32768) } }

  /// A WAV file of two channels, silent, and as long as the tests of faults ask for. It is sparse: it takes no space on the disk.
  func longFile() throws -> (path: String, bytes: Int) {
    let bytes = Int(Faults.number("PINNA_FAULT_BYTES", quick: 24e6, heavy: 4.4e9)) / 4 * 4
    let sound = StatedSound(.wav, .bytes(bytes & 0xFFFF_FFFF))
    let file = try home.folder.write(Data(sound.header(sound: bytes, channels: 2)), to: "long.wav")
    truncate(file, off_t(44 + bytes))
    return (file, bytes)
  }

  private func run(_ program: String, _ words: [String], _ environment: [String: String]) throws
    -> Program.Outcome
  {
    try Program.run(program, words, environment: self.environment.merging(environment) { $1 })
  }

  /// The names in a folder of the home; empty if it does not exist.
  func contents(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path + "/" + folder)) ?? []).sorted()
  }

  /// Writes a take of the device pair in pieces of these lengths, without its outputs.
  /// - Parameters:
  ///   - stem: the common beginning of its files' names, in the home or a folder of it.
  ///   - whole: what its microphones heard.
  func writeTake(
    _ stem: String, _ whole: [[Float]], _ lengths: [Int], pattern: String = "stereo", fallbacks: String = "[]"
  ) throws {
    let name = stem.split(separator: "/").last.map(String.init) ?? stem
    try FileManager.default.createDirectory(
      atPath: (path + "/" + stem as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    var start = 0
    var files: [String] = []
    for (n, length) in lengths.enumerated() {
      let base = n == 0 ? stem : "\(stem)_\(n + 1)"
      try AudioClip(sampleRate: 48000, channels: whole.map { Array($0[start..<start + length]) }).write(
        wav: "\(path)/\(base)-microphones.wav")
      let file = n == 0 ? name : "\(name)_\(n + 1)"
      files.append(
        """
        {"frame": \(start), "frames": \(length), "outputs": "\(file).wav", "microphones": "\(file)-microphones.wav"}
        """)
      start += length
    }
    try home.folder.write(
      """
      {"formatVersion": 1, "state": "complete", "files": [\(files.joined(separator: ","))], "frames": \(start),
       "sampleRate": 48000, "channels": 2, "format": "float", "preRollFrames": 0, "gaps": [], "pauses": [],
       "events": [], "clippedSamples": 0, "silencedSamples": 0, "notes": [], "missing": [],
       "fallbacks": \(fallbacks),
       "setup": {"preset": "pair", "device": "pair", "dataSource": "Front", "polarPattern": "\(pattern)",
         "inputOrientation": "portrait", "gainDB": -3, "highPassHz": 80, "muted": false,
         "microphones": ["left-end", "right-end"], "latencyFrames": 0}}
      """, to: "\(stem).json")
  }
}
