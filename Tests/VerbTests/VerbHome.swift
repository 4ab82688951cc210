import AudioFiles
import Foundation
import LiveSupport
import Presets
import TestSupport

/// A home for verbs with a cache of its own, and a device in a folder of the user's whose filters take a blink.
struct VerbHome {
  let home: PinnaHome
  var path: String { home.folder.path }
  var cacheFolder: String { path + "/cache" }

  init() throws {
    home = try PinnaHome()
    try home.addPair()
  }

  func pinna(_ words: [String]) throws -> Program.Outcome { try run(try PinnaHome.binary(), words, [:]) }

  func pinna(_ words: String..., environment: [String: String] = [:]) throws -> Program.Outcome {
    try run(try PinnaHome.binary(), words, environment)
  }

  /// `pinna` on a terminal; what it prints and complains of comes as output.
  func onTerminal(_ words: String, environment: [String: String] = [:]) throws -> Program.Outcome {
    try run(
      "/usr/bin/script", ["-qec", "\(try PinnaHome.binary()) \(words)", "/dev/null"],
      ["TERM": "xterm", "NO_COLOR": ""].merging(environment) { $1 })
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

  /// Names in a folder of the home; empty where there is none.
  func contents(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path + "/" + folder)) ?? []).sorted()
  }
}
