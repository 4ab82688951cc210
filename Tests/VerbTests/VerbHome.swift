import AudioFiles
import Foundation
import LiveSupport
import Presets
import TestSupport

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
      environment: home.environment.merging(["XDG_CACHE_HOME": cacheFolder, "PINNA": PinnaHome.binary()]) {
        $1
      })
  }

  private func run(_ program: String, _ words: [String], _ environment: [String: String]) throws
    -> Program.Outcome
  {
    try Program.run(
      program, words,
      environment: home.environment.merging(["XDG_CACHE_HOME": cacheFolder]) { $1 }.merging(environment) {
        $1
      })
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
