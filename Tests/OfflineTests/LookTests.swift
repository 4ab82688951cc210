import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Looks in a run") struct LookTests {
    @Test(
      "a look is heard within 1.5 s of its first mention, and a take of looks is rendered again bit for bit")
    func takes() throws {
      let graph = try OfflineGraph(preset: "ring7", captures: 7)
      let began = ContinuousClock.now
      let set = try graph.pinna("set", "--look", "60", "--json")
      let took = ContinuousClock.now - began
      try #require(set.status == 0, "\(set)")
      #expect(try set.json()["look"] as? [Double] == [60, 0])
      #expect(try set.json()["polarPattern"] as? String == "cardioid")
      #expect(took < .milliseconds(1500), "\(took)")
      try #require(
        try graph.pinna("feed", "add", "ben", "--look", "-60,10", "--pattern", "supercardioid").status == 0)
      try graph.play(Self.noise)
      let path = try graph.startTake("--feeds", "all")
      #expect(try graph.pinna("set", "--look", "0").status == 5)
      try graph.waitForTake(frames: 14_400)
      try graph.stopTake(path)
      let folder = graph.home.folder.path + "/again"
      let render = try graph.pinna("render", "--force", path, "--into", folder)
      try #require(render.status == 0, "\(render)")
      let main = try AudioClip(path: path)
      #expect(main.channels[0].count > 4800 && main.channels[0].contains { $0 != 0 })
      #expect(try AudioClip(path: folder + "/main.wav").channels == [main.channels[0]])
      let ben = try AudioClip(path: "\(path.dropLast(4))-ben.wav")
      #expect(try AudioClip(path: folder + "/ben.wav").channels == ben.channels)
      #expect(ben.channels[0].contains { $0 != 0 } && ben.channels[0] != main.channels[0])
    }

    /// Seven microphones.
    private static let noise: [[Float]] = SeededNoise.channels(7, 24_000, amplitude: 0.1, seed: 40)
  }
}
