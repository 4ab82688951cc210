import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

/// These tests run `render` and need no server.
@Suite("pinna render with a measured device") struct MeasuredDeviceTests {
  static let sofa = try! Data(contentsOf: URL(filePath: repositoryFolder + "/Tests/Golden/sphere.sofa"))

  /// The outcome of `pinna render`, and its output if it wrote any.
  func render(sofa: Data) throws -> (Program.Outcome, output: AudioClip?) {
    let home = try PinnaHome()
    try home.folder.write(sofa, to: "config/pinna/devices/ball.sofa")
    try home.folder.write(
      """
      title: Ball
      body: {sofa: ball.sofa}
      microphones:
        front: [0, 0, 40]
        back: [0, 0, -40]
      dataSources:
        Front: {forward: +z, microphones: all, polarPatterns: [cardioid]}
      """, to: "config/pinna/devices/ball.yaml")
    try home.folder.write(
      "{title: B, device: ball, dataSource: Front, polarPattern: cardioid, inputOrientation: portrait}",
      to: "config/pinna/ball.yaml")
    var noise = SeededNoise(seed: 3)
    let (input, output) = (home.folder.path + "/in.wav", home.folder.path + "/out.wav")
    try AudioClip(
      sampleRate: 48_000,
      channels: [noise.samples(4800, amplitude: 0.2), noise.samples(4800, amplitude: 0.2)]
    )
    .write(wav: input)
    let outcome = try home.pinna("render", "--preset", "ball", input, output)
    return (outcome, FileManager.default.fileExists(atPath: output) ? try AudioClip(path: output) : nil)
  }

  @Test("render with a measured device writes one channel of sound")
  func cardioid() throws {
    let (outcome, output) = try render(sofa: Self.sofa)
    #expect(outcome.status == 0, "\(outcome)")
    let clip = try #require(output)
    #expect(clip.channels.count == 1 && clip.frames == 4800 && level(clip.channels[0]) > -40)
  }

  @Test(
    "a truncated SOFA file is reported in one sentence with status 1, and nothing is written",
    arguments: [0, 5000, 30_000])
  func broken(length: Int) throws {
    let (outcome, output) = try render(sofa: Self.sofa.prefix(length))
    #expect(outcome.status == 1 && output == nil)
    let sentence = outcome.error.split(separator: "\n").last ?? ""
    #expect(
      outcome.output.isEmpty && sentence.hasPrefix("pinna: ") && sentence.contains("ball.sofa"), "\(outcome)")
  }
}
