import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  /// R39: one microphone of phone5 is pulled during a take, and put back.
  @Suite("A microphone that is pulled during a take") struct FallbackTests {
    /// 997 Hz at -12 dBFS, later from microphone to microphone.
    static let tones: [[Float]] = (0..<5).map { m in
      // A whole number of cycles, because it repeats.
      (0..<48_000).map { (n: Int) -> Float in
        let angle: Double = 2 * .pi * 997 * Double(n - 2 * m) / 48_000
        return Float(0.2512 * sin(angle))
      }
    }

    @Test(
      "R39: without a click the filters do without it within 1.5 s, and take it back; status, sidecar and render say so",
      .long
    )
    func pulled() throws {
      // As slow as sound: the promise is about how soon a design is there.
      let graph = try OfflineGraph(preset: "phone5", captures: 5, speed: 1)
      try graph.play(Self.tones)
      try graph.waitForLook()
      let path = try graph.startTake(frames: 48_000)
      try graph.command("disconnect", "system:capture_5", "pinna:top")
      func without() throws -> [String]? {
        (try graph.status()["fallback"] as? [String: Any])?["without"] as? [String]
      }
      try #require(try waitUntil(seconds: 30) { try without() == ["top"] }, "\(graph.program.errorText)")
      let text = try graph.pinna("status").output
      #expect(
        text.contains("missing: top: nothing is connected to it\nfilters without top are in force\n"),
        "\(text)")
      #expect(try graph.pinna("set", "--gain", "3").status == 5)
      try graph.waitForTake(frames: graph.takeFrames() + 48_000)
      try graph.command("connect", "system:capture_5", "pinna:top")
      try #require(try waitUntil(seconds: 60) { try graph.status()["fallback"] == nil })
      try graph.waitForTake(frames: graph.takeFrames() + 48_000)
      #expect(try graph.pinna("record", "stop").status == 0)

      let raw = path.replacing(".wav", with: "-microphones.wav")
      let sidecar = try Sidecar.read(path.replacing(".wav", with: ".json"))
      let fallbacks = try #require(sidecar.fallbacks)
      #expect(fallbacks.map(\.without) == [["top"], []])
      let top = try AudioClip(path: raw).channels[4]
      let pulled = try #require(Self.firstOfSilence(in: top))
      let waited = fallbacks[0].frame - pulled
      Faults.report(
        "R39", done: "one of five microphones pulled: the fade begins after",
        measured: String(format: "%.2f s", Double(waited) / 48_000), limit: "≤ 1.5 s", kept: waited <= 72_000)
      #expect(waited > 0 && waited <= 72_000, "\(waited) frames")

      let outputs = try AudioClip(path: path).channels
      let returned = try #require(top[(pulled + 24_000)...].firstIndex { $0 != 0 })
      let moments = [
        ("the pull", pulled), ("the fade to the fallback", fallbacks[0].frame), ("the return", returned),
        ("the fade back", fallbacks[1].frame),
      ]
      for (moment, frame) in moments {
        // Half of the window before it and half after.
        let level = outputs.map {
          Spectrum(Array($0[(frame - 8_000)..<(frame + 9_000)]), sampleRate: 48_000)
            .peakOutside(997, distance: 500)
        }.max()!
        Faults.report(
          "R39", done: "\(moment), beyond 500 Hz of a tone, in a third of a second",
          measured: String(format: "%.0f dBFS", level), limit: "< −80 dBFS", kept: level < -80)
        #expect(level < -80, "\(moment): \(level) dBFS")
      }

      // The same from the microphones' file: only what was heard before the take is missing at its beginning.
      let rendered = graph.home.folder.path + "/rendered.wav"
      let outcome = try graph.pinna("render", "--force", raw, rendered, "--preset", "phone5")
      #expect(outcome.status == 0 && outcome.error.contains("fallback filters are repeated"), "\(outcome)")
      let again = try AudioClip(path: rendered).channels
      for (a, b) in zip(outputs, again) {
        let error = zip(a, b).dropFirst(2_000).map { abs($0 - $1) }.max()!
        #expect(error < 1e-5, "\(error)")
      }
    }

    /// The first frame of a second of zeros.
    static func firstOfSilence(in samples: [Float]) -> Int? {
      var run = 0
      for (n, sample) in samples.enumerated() {
        run = sample == 0 ? run + 1 : 0
        if run == 24_000 { return n - run + 1 }
      }
      return nil
    }
  }
}
