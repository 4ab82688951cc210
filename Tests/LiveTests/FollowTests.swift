import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("Following a pose in a JACK graph") struct FollowTests {
    @Test(
      "a take whose feeds follow roll, yaw and look is rendered again bit for bit, while settings are locked")
    func takes() throws {
      let graph = try LiveGraph(preset: "phone5")
      let set = try graph.pinna(
        "set", "--data-source", "Back", "--pattern", "stereo", "--orientation", "portrait", "--follow", "roll"
      )
      try #require(set.status == 0, "\(set)")
      try #require(try graph.pinna("feed", "add", "room", "--format", "ambix", "--follow", "yaw").status == 0)
      try #require(
        try graph.pinna("feed", "add", "beam", "--pattern", "cardioid", "--look", "30", "--follow", "look")
          .status == 0)
      let sender = try graph.sender()
      func pose(_ angle: Double) throws {
        sender.send("/ypr", "\(-angle)", "5", "\(angle)")
        try #require(sender.reply(seconds: 5)?.status == 0)
      }
      try pose(4)
      // The filters around this pose are designed while nothing else happens.
      usleep(6_000_000)
      let player = try graph.player(Self.noise, repeats: true)
      let path = try graph.freewheel {
        player.start()
        try #require(waitUntil(seconds: 10) { player.isFinished })
        let start = try graph.pinna("record", "start", "--feeds", "all", "--raw", "--json")
        try #require(start.status == 0, "\(start)")
        #expect(try graph.pinna("set", "--roll", "3").status == 5)
        for step in 0..<60 {
          try pose(Double(step % 20) - 10)
          usleep(8_000)
        }
        try #require(try graph.pinna("record", "stop").status == 0)
        return try #require(try start.json()["take"] as? String)
      }
      let sidecar = try String(contentsOfFile: path.dropLast(4) + ".json", encoding: .utf8)
      let turns = try #require(
        (try JSONSerialization.jsonObject(with: Data(sidecar.utf8)) as? [String: Any])?["turns"]
          as? [[String: Any]])
      #expect(Set(turns.map { $0["feed"] as? String }) == [nil, "room", "beam"])
      #expect(turns.count > 20, "\(turns.count)")
      let folder = graph.home.folder.path + "/again"
      let render = try graph.pinna("render", path, "--into", folder)
      try #require(render.status == 0, "\(render)")
      for (name, ending) in [("main", ""), ("room", "-room"), ("beam", "-beam")] {
        let live = try AudioClip(path: path.dropLast(4) + ending + ".wav").channels
        let again = try AudioClip(path: folder + "/\(name).wav").channels
        #expect(live.count == again.count && live[0].count > 4800 && live[0].contains { $0 != 0 })
        let first = zip(live, again).compactMap { a, b in
          zip(a, b).enumerated().first { $1.0 != $1.1 }?.offset
        }.min()
        #expect(first == nil, "\(name) differs from frame \(first ?? 0) on")
      }
      withExtendedLifetime(player) {}
    }

    /// Five microphones.
    private static let noise: [[Float]] = {
      var noise = SeededNoise(seed: 41)
      return (0..<5).map { _ in noise.samples(24_000, amplitude: 0.1) }
    }()
  }
}
