import AudioFiles
import FasterKernels
import Foundation
import LiveSupport
import Realtime
import TestSupport
import Testing

extension OfflineTests {
  @Suite("render and the live client agree") struct TwinTests {
    static let noise: [[Float]] = {
      var noise = SeededNoise(seed: 26)
      // The first sample is not zero, so that the capture finds the beginning.
      return (0..<5).map { _ in [0.25] + noise.samples(96_000, amplitude: 0.25) }
    }()

    func render(
      _ home: PinnaHome, _ channels: [[Float]], period: Int, isa: InstructionSet? = nil,
      options: [String] = []
    )
      throws -> AudioClip
    {
      let (input, output) = (home.folder.path + "/in.wav", home.folder.path + "/out-\(period).wav")
      try AudioClip(sampleRate: 48000, channels: channels).write(wav: input)
      let isaOption = isa.map { ["--isa", $0.rawValue] } ?? []
      let outcome = try home.pinna(
        ["render", "--force", "--preset", "phone5", "--period", "\(period)"] + isaOption + options + [
          input, output,
        ])
      try #require(outcome.status == 0, "\(outcome)")
      #expect(outcome.output.hasPrefix("wrote \(output): "), "\(outcome)")
      return try AudioClip(path: output)
    }

    @Test("R26: render writes bit for bit what a freewheel capture gives", arguments: [32, 100, 128, 1024])
    func freewheelCapture(period: Int) throws {
      let graph = try OfflineGraph(preset: "phone5", period: period, captures: 5)
      let rendered = try render(graph.home, Self.noise, period: period)
      let captured = try graph.capture(Self.noise)
      #expect(level(rendered.channels[0]) > -40)
      for (a, b) in zip(rendered.channels, captured) {
        #expect(differences(a, b) == 0, "\(errorLevel(b, a)) dB apart")
      }
    }

    @Test("R26: render and a freewheel capture agree bit for bit with a high-pass and a gain")
    func highPass() throws {
      let graph = try OfflineGraph(preset: "phone5", period: 128, captures: 5)
      let changes = ["--high-pass", "80", "--gain", "-6"]
      let answer = try graph.home.pinna(["set"] + changes)
      #expect(answer.status == 0 && answer.output.contains(", -6 dB, high-pass 80 Hz"), "\(answer)")
      #expect(try graph.status()["highPassHz"] as? Double == 80)
      let rendered = try render(graph.home, Self.noise, period: 128, options: changes)
      for (a, b) in zip(rendered.channels, try graph.capture(Self.noise)) {
        #expect(differences(a, b) == 0, "\(errorLevel(b, a)) dB apart")
      }
    }

    static let available: [InstructionSet] = {
      FasterKernels.register()
      return InstructionSet.available
    }()

    @Test(
      "R26: render matches a freewheel capture with every instruction set of this processor",
      arguments: available)
    func instructionSets(isa: InstructionSet) throws {
      let graph = try OfflineGraph(
        preset: "phone5", period: 128, options: ["--isa", isa.rawValue], captures: 5)
      let rendered = try render(graph.home, Self.noise, period: 128, isa: isa)
      for (a, b) in zip(rendered.channels, try graph.capture(Self.noise)) {
        #expect(a.map(\.bitPattern) == b.map(\.bitPattern), "\(errorLevel(b, a)) dB apart")
      }
      // v3 and v4 may agree to the last bit; `baseline`, which rounds products, does not.
      if isa != .baseline {
        let baseline = try render(graph.home, Self.noise, period: 128, isa: .baseline)
        let isAnother = baseline.channels != rendered.channels
        #expect(isAnother, "--isa baseline computes like \(isa.rawValue)")
      }
    }

    @Test(
      "an instruction set that is unknown or that this processor lacks is refused before anything starts")
    func unknownInstructionSet() throws {
      let home = try PinnaHome()
      for verb in [["run", "--server", "none"], ["render", "in.wav", "out.wav"]] {
        let outcome = try home.pinna(verb + ["--isa", "v5"])
        #expect(outcome.status == 2 && outcome.isOneSentence, "\(outcome)")
        #expect(outcome.error.contains("baseline, v3, v4"))
      }
    }

    @Test("render says in one line what it wrote and how, and mentions a design only when it computes one")
    func oneLine() throws {
      let home = try PinnaHome()
      let input = home.folder.path + "/in.wav"
      try AudioClip(sampleRate: 48000, channels: Self.noise.map { Array($0.prefix(100)) }).write(wav: input)
      for run in 0..<2 {
        let outcome = try home.pinna("render", "--force", input, home.folder.path + "/out.wav")
        #expect(outcome.status == 0 && outcome.output.count { $0 == "\n" } == 1, "\(outcome)")
        #expect(outcome.output.hasPrefix("wrote \(home.folder.path)/out.wav: "), "\(outcome)")
        if run == 1 { #expect(outcome.error.isEmpty, "\(outcome)") }
      }
    }

    @Test("render never overwrites its input or what is not a file, and reports a truncated input")
    func keepsItsInput() throws {
      let home = try PinnaHome()
      let folder = home.folder.path
      let input = folder + "/in.wav"
      try AudioClip(sampleRate: 48000, channels: Self.noise.map { Array($0.prefix(5000)) }).write(wav: input)
      let before = try Data(contentsOf: URL(filePath: input))
      try FileManager.default.createSymbolicLink(atPath: folder + "/link.wav", withDestinationPath: "in.wav")
      for (output, status) in [
        (input, 2), (folder + "/./in.wav", 2), (folder + "/link.wav", 2), ("", 2), (folder, 1),
      ] {
        let outcome = try home.pinna("render", "--force", input, output)
        #expect(outcome.status == Int32(status) && outcome.isOneSentence, "\(output): \(outcome)")
      }
      #expect(try Data(contentsOf: URL(filePath: input)) == before)
      try home.folder.write(before.prefix(before.count / 2), to: "cut.wav")
      let cut = try home.pinna("render", "--force", folder + "/cut.wav", folder + "/out.wav")
      #expect(cut.status == 0 && cut.error.contains("cut.wav ends early"), "\(cut)")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy { !$0.hasSuffix(".part") })
    }

    @Test("R26: render gives the same output at every period, to 1e-6 of its peak")
    func acrossPeriods() throws {
      let home = try PinnaHome()
      let reference = try render(home, Self.noise, period: 1024)
      let peak = reference.channels.joined().map(\.magnitude).max()!
      for period in [16, 32, 100, 441, 4096] {
        let other = try render(home, Self.noise, period: period)
        for (a, b) in zip(reference.channels, other.channels) {
          let difference = zip(a, b).map { ($0 - $1).magnitude }.max()!
          #expect(difference <= 1e-6 * peak, "period \(period): \(difference / peak)")
        }
      }
    }
  }
}
