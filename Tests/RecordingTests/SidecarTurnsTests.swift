import Acoustics
import Foundation
import Realtime
import Recording
import Testing

@Suite("Poses in sidecars") struct SidecarTurnsTests {
  private static let sidecar = Sidecar(
    TakePlan(
      outputs: 2, sampleRate: 48000, options: TakeOptions(), setup: TakeWriterTests.setup,
      preRoll: PreRoll(microphones: 1, capacityFrames: 0)))

  private static func played(
    _ orientation: InputOrientation = .portrait, look: Look? = nil, roll: Double = 0, yaw: Double = 0
  ) -> Selection {
    Selection(
      dataSource: "Front", polarPattern: look == nil ? .stereo : .cardioid, inputOrientation: orientation,
      look: look, pose: Pose(roll: roll, yaw: yaw))
  }

  @Test("what a feed played is read again as it was listed, after a JSON file")
  func again() throws {
    let turns = [
      Sidecar.Turn(Self.played(), frame: 0, feed: "main"),
      Sidecar.Turn(Self.played(roll: 12, yaw: -3), frame: 100, feed: "main"),
      Sidecar.Turn(Self.played(.landscapeLeft), frame: 200, feed: "main"),
      Sidecar.Turn(Self.played(look: Look(azimuth: -120.5, elevation: 10)), frame: 300, feed: "main"),
    ]
    var sidecar = Self.sidecar
    sidecar.frames = 300
    sidecar.list(Array(turns[..<2]))
    sidecar.list(Array(turns[2...]))
    let again = try JSONDecoder().decode(Sidecar.self, from: JSONEncoder().encode(sidecar))
    #expect(try again.turns(of: "main") == turns)
    #expect(try again.turns(of: "anna").isEmpty && Self.sidecar.turns(of: "main").isEmpty)
    #expect(turns[1].played(Self.played()) == Self.played(roll: 12, yaw: -3))
  }

  @Test("talkers are listed as frame, identity, place and level, up to a limit that a note tells")
  func talkers() {
    var sidecar = Self.sidecar
    sidecar.list([
      Sidecar.Talker(frame: 100, identity: 1, look: Look(azimuth: -35.4), level: -31.6),
      Sidecar.Talker(frame: 4800, identity: 2, look: Look(azimuth: 60, elevation: 10.2), level: -40),
    ])
    sidecar.list([Sidecar.Talker(frame: 9600, identity: 1)])
    #expect(sidecar.talkers == "100 1 -35 -32; 4800 2 60,10 -40; 9600 1 off")
    #expect(sidecar.notes.isEmpty)
    for _ in 0..<500 {
      sidecar.list([Sidecar.Talker](repeating: .init(frame: 1 << 40, identity: 1), count: 1000))
    }
    #expect(sidecar.talkers!.utf8.count < 5 << 20 && sidecar.notes.count == 1)
  }

  @Test(
    "what no take has is refused",
    arguments: [
      "-1", "x", "0 roll", "0 roll x", "0 roll 1e9", "0 look 1,2,3", "0 look 0,200", "0 tilt 3", "5; 4",
      "0 roll nan", "99999999999999999999",
    ])
  func forged(text: String) {
    var sidecar = Self.sidecar
    sidecar.frames = 1 << 53
    sidecar.turns = ["main": text]
    #expect(throws: TakeError.self) { try sidecar.turns(of: "main") }
    sidecar.turns = ["nobody": "0"]
    #expect(throws: TakeError.self) { try sidecar.turns(of: "nobody") }
  }

  @Test("what a feed played behind the take's sound, where the disk was full, is not of the take")
  func later() throws {
    var sidecar = Self.sidecar
    sidecar.frames = 10
    sidecar.turns = ["main": "0 roll 5;10 roll 7;11 roll 3;9223372036854775807 roll 2"]
    #expect(try sidecar.turns(of: "main").map(\.frame) == [0, 10])
  }

  @Test("hours of a moving head do not grow the sidecar beyond 4 MiB, and a note says so once")
  func limit() throws {
    var sidecar = Self.sidecar
    for second in 0..<6000 {
      sidecar.list(
        (0..<40).map {
          Sidecar.Turn(
            Self.played(roll: Double($0 % 90), yaw: -17), frame: 4_000_000_000 + 48000 * second + 1200 * $0,
            feed: "main")
        })
    }
    #expect(sidecar.turns!.values.reduce(0) { $0 + $1.utf8.count } <= (4 << 20) + 40)
    #expect(sidecar.notes.filter { $0.contains("poses") }.count == 1)
  }
}
