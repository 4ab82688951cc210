import Foundation
import Realtime
import Recording
import TestSupport
import Testing

/// The sidecar of a take, found from the file of its microphones.
@Suite("Sidecars beside microphones' files") struct SidecarMicrophonesTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// A take of two segments, the second from frame 1000, with fallbacks at these frames.
  private func write(_ fallbacks: [Sidecar.Fallback]) throws {
    let plan = TakePlan(
      outputs: 2, sampleRate: 48000, options: TakeOptions(), setup: TakeWriterTests.setup,
      preRoll: PreRoll(microphones: 1, capacityFrames: 0))
    var sidecar = Sidecar(plan)
    let files = """
      [{"frame": 0, "frames": 1000, "outputs": "take.wav", "microphones": "take-microphones.wav"},
       {"frame": 1000, "frames": 500, "outputs": "take_2.wav", "microphones": "take_2-microphones.wav"}]
      """
    sidecar.files = try JSONDecoder().decode([Sidecar.Files].self, from: Data(files.utf8))
    sidecar.fallbacks = fallbacks
    try folder.write(JSONEncoder().encode(sidecar), to: "take.json")
  }

  @Test("each segment has the fallbacks of its frames, and begins with the one in force")
  func segments() throws {
    try write([
      .init(frame: 300, without: ["top"]), .init(frame: 900, without: []),
      .init(frame: 990, without: ["back"]),
      .init(frame: 1200, without: []),
    ])
    func fallbacks(_ name: String) throws -> [Sidecar.Fallback] {
      let (sidecar, first) = try #require(try Sidecar.ofMicrophones(at: folder.path + "/" + name))
      return sidecar.fallbacks(from: first)
    }
    #expect(
      try fallbacks("take-microphones.wav") == [
        .init(frame: 300, without: ["top"]), .init(frame: 900, without: []),
        .init(frame: 990, without: ["back"]), .init(frame: 1200, without: []),
      ])
    #expect(
      try fallbacks("take_2-microphones.wav") == [
        .init(frame: 0, without: ["back"]), .init(frame: 200, without: []),
      ])
  }

  @Test("a damaged sidecar is an error, not an absence")
  func damaged() throws {
    try folder.write("{\"fallbacks\": \"x\"}", to: "take.json")
    #expect(throws: TakeError.self) {
      try Sidecar.ofMicrophones(at: folder.path + "/take-microphones.wav")
    }
  }

  @Test(
    "no other file has a sidecar",
    arguments: [
      "take.wav", "other-microphones.wav", "take_3-microphones.wav", "-microphones.wav", "", "take.json",
    ])
  func others(name: String) throws {
    try write([])
    #expect(try Sidecar.ofMicrophones(at: folder.path + "/" + name) == nil)
  }
}
