import AudioFiles
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
  private func write(_ fallbacks: [Sidecar.Fallback] = [], _ change: (inout Sidecar) -> Void = { _ in })
    throws
  {
    let plan = TakePlan(
      outputs: 2, sampleRate: 48000, options: TakeOptions(), setup: TakeWriterTests.setup,
      preRoll: PreRoll(microphones: 1, capacityFrames: 0))
    var sidecar = Sidecar(plan)
    let files = """
      [{"frame": 0, "frames": 1000, "outputs": "take.wav", "microphones": "take-microphones.wav"},
       {"frame": 1000, "frames": 500, "outputs": "take_2.wav", "microphones": "take_2-microphones.wav"}]
      """
    sidecar.files = try JSONDecoder().decode([Sidecar.Files].self, from: Data(files.utf8))
    (sidecar.fallbacks, sidecar.frames) = (fallbacks, 1500)
    change(&sidecar)
    try folder.write(JSONEncoder().encode(sidecar), to: "take.json")
  }

  @Test("each segment has the fallbacks of its frames, and begins with the one in force")
  func segments() throws {
    try write([
      .init(frame: 300, without: ["top"]), .init(frame: 900, without: []),
      .init(frame: 990, without: ["back"]),
      .init(frame: 1200, without: []),
      // The disk was full, and the feeds played on.
      .init(frame: 1501, without: ["top"]),
    ])
    func fallbacks(_ name: String) throws -> [Sidecar.Fallback] {
      let found = try #require(try Sidecar.ofFile(at: folder.path + "/" + name))
      return found.sidecar.fallbacks(from: found.sidecar.files[found.segment].frame)
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

  @Test("files that begin after midnight have the next day's date, and a time reference from its midnight")
  func midnight() throws {
    try write { $0.started = "2027-12-31T23:59:59.980+01:00" }
    let sidecar = try Sidecar.read(folder.path + "/take.json")
    let stamps = try sidecar.files.map { try #require(sidecar.broadcast(of: $0)) }
    #expect(stamps.map(\.date) == ["2027-12-31", "2028-01-01"])
    #expect(stamps.map(\.time) == ["23:59:59", "00:00:00"])
    #expect(stamps.map(\.timeReference) == [86_400 * 48000 - 960, 40])
  }

  @Test("lengths that no sum can hold are damage", arguments: ["gaps", "files"])
  func sums(list: String) throws {
    let most = 1 << 53
    try write { sidecar in
      if list == "gaps" {
        sidecar.gaps = [Int](repeating: 0, count: 1024).map { .init(frame: $0, frames: most, cause: .stall) }
      } else {
        for n in sidecar.files.indices { sidecar.files[n].frames = most }
      }
    }
    #expect(throws: TakeError.self) { try Sidecar.read(folder.path + "/take.json") }
  }

  @Test(
    "gaps of hours are runs, not frames in memory; a frame of the engine is found behind one of 2⁵² frames")
  func gaps() throws {
    let hours = 4 * 3600 * 48000
    try write {
      $0.gaps = [
        .init(frame: 100, frames: hours, cause: .stall), .init(frame: hours + 300, frames: 7, cause: .disk),
      ]
    }
    let gaps = TakeGaps(try Sidecar.read(folder.path + "/take.json"))
    var position = 0
    #expect(
      gaps.runs(of: 256, from: &position, to: hours + 500) == [
        .sound(0..<100), .gap(hours), .sound(100..<256),
      ])
    #expect(position == hours + 256)
    #expect(gaps.runs(of: 244, from: &position, to: hours + 500) == [.sound(0..<244)])
    #expect(gaps.sound(in: 50..<hours + 120) == [50..<100, hours + 100..<hours + 120])
    #expect([0, 100, 101].map(gaps.firstFrame(afterEngineFrames:)) == [0, 100, hours + 101])
    let block = (0..<200).map { Float($0) }
    #expect(gaps.removed(from: [block], start: 0) == [Array(block[..<100])])
    try write { $0.gaps = [.init(frame: 100, frames: 1 << 52, cause: .stall)] }
    #expect(
      TakeGaps(try Sidecar.read(folder.path + "/take.json")).firstFrame(afterEngineFrames: 150) == 150
        + (1 << 52))
  }

  @Test("the microphones before a frame come from all files of the take that hold them, to the sample")
  func before() throws {
    try write([])
    let whole = SeededNoise.channels(3, 1500, amplitude: 0.5, seed: 37)
    for (name, span) in [("take-microphones.wav", 0..<1000), ("take_2-microphones.wav", 1000..<1500)] {
      try AudioClip(sampleRate: 48000, channels: whole.map { Array($0[span]) }).write(
        wav: "\(folder.path)/\(name)")
    }
    let sidecar = try Sidecar.read(folder.path + "/take.json")
    for (frame, count, span) in [
      (1000, 400, 600..<1000), (1000, 5000, 0..<1000), (1400, 600, 800..<1400), (1100, 50, 1050..<1100),
      (0, 100, 0..<0), (1000, 0, 1000..<1000),
    ] {
      let found = try sidecar.microphones(before: frame, count: count, in: folder.path + "/")
      #expect(found == whole.map { Array($0[span]) }, "\(count) before \(frame)")
    }
  }

  @Test("a file of the take that is missing, shorter, or of other channels is an error that names it")
  func notBefore() throws {
    try write([])
    let sidecar = try Sidecar.read(folder.path + "/take.json")
    func error() -> String {
      let error = #expect(throws: TakeError.self) {
        try sidecar.microphones(before: 1000, count: 100, in: folder.path + "/")
      }
      return error?.description ?? ""
    }
    #expect(error().contains("take-microphones.wav"))
    for channels in [[[Float]](repeating: [0, 0], count: 3), [[Float]](repeating: [], count: 2)] {
      let clip = AudioClip(
        sampleRate: 48000,
        channels: channels.map { $0 + [Float](repeating: 0, count: channels.count == 2 ? 1000 : 9) })
      unlink(folder.path + "/take-microphones.wav")
      try clip.write(wav: folder.path + "/take-microphones.wav")
      #expect(error().contains("take-microphones.wav"))
    }
  }

  @Test("a damaged sidecar is an error, not an absence")
  func damaged() throws {
    try folder.write("{\"fallbacks\": \"x\"}", to: "take.json")
    #expect(throws: TakeError.self) {
      try Sidecar.ofFile(at: folder.path + "/take-microphones.wav")
    }
  }

  @Test(
    "no other file has a sidecar",
    arguments: [
      "other-microphones.wav", "take_3-microphones.wav", "take-anna.wav", "-microphones.wav", "",
    ])
  func others(name: String) throws {
    try write([])
    #expect(try Sidecar.ofFile(at: folder.path + "/" + name) == nil)
  }
}
