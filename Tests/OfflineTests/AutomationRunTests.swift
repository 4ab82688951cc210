import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Changes in a run, and by automation") struct AutomationRunTests {
    private static let period = 128
    /// Words of `pinna set`, and the same in a file for `render --automation`.
    private static let changes: [(words: [String], line: String)] = [
      (["--pattern", "cardioid", "--gain", "-3"], "pattern: cardioid, gain: -3"),
      (["--data-source", "Front"], "data-source: Front"),
      (["--high-pass", "80"], "high-pass: 80"),
      (["--pattern", "stereo"], "pattern: stereo"),
      (["--orientation", "landscapeLeft", "--gain", "2"], "orientation: landscapeLeft, gain: 2"),
      (["--high-pass", "off"], "high-pass: off"),
    ]

    @Test(
      "a run in freewheel with six changes equals, bit for bit, a rendering that makes them by automation where each began"
    )
    func sixChanges() throws {
      let graph = try OfflineGraph(preset: "phone5", period: Self.period, captures: 5)
      let all = try graph.record((1...5).map { "system:capture_\($0)" }) {
        try graph.play(SeededNoise.loop(channels: 5, seed: 22))
        for change in Self.changes {
          try graph.wait(frames: 4800)
          let outcome = try graph.home.pinna(["set"] + change.words)
          try #require(outcome.status == 0, "\(outcome)")
        }
        try graph.wait(frames: 4800)
      }
      let start = try #require(all[2].firstIndex { $0 != 0 }) / Self.period * Self.period
      let sound = all.map { Array($0[start...]) }
      let folder = graph.home.folder.path
      let (file, output) = (folder + "/microphones.wav", folder + "/rendered.wav")
      try AudioClip(sampleRate: 48_000, channels: Array(sound[2...])).write(wav: file)
      var lines: [String] = []
      func rendered() throws -> [[Float]] {
        let automation = folder + "/automation.yaml"
        try lines.joined(separator: "\n").write(toFile: automation, atomically: true, encoding: .utf8)
        let options = lines.isEmpty ? [] : ["--automation", automation]
        try? FileManager.default.removeItem(atPath: output)
        let outcome = try graph.home.pinna(
          ["render", "--force", "--preset", "phone5", "--period", "\(Self.period)"] + options + [
            file, output,
          ])
        try #require(outcome.status == 0, "\(outcome)")
        return try AudioClip(path: output).channels
      }
      // Nobody tells in which period a change arrived: where the run first differs from a rendering without it.
      for change in Self.changes {
        let before = try rendered()
        let first = try #require(
          before[0].indices.first { before[0][$0] != sound[0][$0] || before[1][$0] != sound[1][$0] })
        let frame = first / Self.period * Self.period
        lines.append("- {at: \(Double(frame) / 48_000), \(change.line)}")
      }
      #expect(try rendered() == Array(sound[..<2]), "\(lines)")
    }
  }
}
