import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

/// A meeting whose turns are known, from its scene to a file of who spoke when.
@Suite("A meeting") struct MeetingTests {
  private static let voices = "/usr/share/sounds/alsa"
  private static let names = [
    "Front_Center", "Side_Left", "Rear_Center", "Front_Right", "Side_Right", "Rear_Left", "Front_Left",
    "Rear_Right",
  ]

  /// In hundredths of a second.
  private struct Turn {
    let who: String
    var begin: Int
    var end: Int
  }

  private static let azimuths = ["p1": 20.0, "p2": 105, "p3": -165, "p4": -70, "late": -118]

  /// Writes the voices and the scene of a meeting: turns of two sentences or so, of which each third overlaps the one before
  /// it; one person is late.
  /// - Returns: who spoke when, pauses of half a second included.
  private static func meeting(on device: String, in folder: TemporaryFolder) throws -> [Turn] {
    let sounds = try names.map { try AudioClip(path: "\(voices)/\($0).wav").channels[0] }
    let order = ["p1", "p2", "p3", "p4", "p1", "p3", "p2", "late", "p4", "late", "p1", "p2", "p3", "p4"]
    var (turns, lines): ([Turn], String) = ([], "")
    var start = 0.5
    for (n, who) in order.enumerated() {
      let sentences = (0..<2 + n % 2).map { sounds[(n + 3 * $0) % 8] }
      let sound: [Float] = sentences.flatMap { (sentence: [Float]) in
        sentence + [Float](repeating: 0, count: 9600)
      }
      let name = "turn-\(n).wav"
      try AudioClip(sampleRate: 48_000, channels: [sound]).write(wav: folder.path + "/" + name)
      let azimuth = azimuths[who]!
      lines += "  - {voice: \(name), azimuth: \(azimuth), elevation: 15, distance: 1.1, start: \(start)}\n"
      turns += voiced(sound).map {
        Turn(who: who, begin: Int(start * 100) + $0.lowerBound, end: Int(start * 100) + $0.upperBound)
      }
      start += Double(sound.count) / 48_000 + (n % 3 == 1 ? -1.5 : 0.3)
    }
    _ = try folder.write(
      """
      title: A meeting
      device: \(device)
      facing: {dataSource: Front, inputOrientation: portrait}
      room: {size: [6, 5, 2.8], device: [2.8, 2.4, 0.8], absorption: 0.4, order: 2}
      noise: {sensor: -60, diffuse: -55}
      talkers:
      \(lines)
      """, to: "meeting.yaml")
    return turns
  }

  /// Where a voice sounds, in hundredths of a second.
  private static func voiced(_ sound: [Float]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for n in 0..<sound.count / 480 {
      let power = sound[n * 480..<(n + 1) * 480].reduce(0) { $0 + $1 * $1 } / 480
      guard power > 1e-5 else { continue }
      if let last = ranges.last, n - last.upperBound < 50 {
        ranges[ranges.count - 1] = last.lowerBound..<n + 1
      } else {
        ranges.append(n..<n + 1)
      }
    }
    return ranges
  }

  /// The diarisation error: time missed, invented and given to others, over the time of the truth; the quarter of a second
  /// around each of its ends does not count.
  private static func error(_ truth: [Turn], _ told: [Turn]) -> (error: Double, names: [String: String]) {
    let length = max(truth.map(\.end).max()!, told.map(\.end).max() ?? 0)
    func grid(_ turns: [Turn]) -> [Set<String>] {
      var grid = [Set<String>](repeating: [], count: length)
      for turn in turns { for n in turn.begin..<min(length, turn.end) { grid[n].insert(turn.who) } }
      return grid
    }
    let (a, b) = (grid(truth), grid(told))
    let edges = truth.flatMap { [$0.begin, $0.end] }
    let judged = (0..<length).filter { n in edges.allSatisfy { abs($0 - n) > 25 } }
    var shared: [[String]: Int] = [:]
    for n in judged { for x in a[n] { for y in b[n] { shared[[x, y], default: 0] += 1 } } }
    var names: [String: String] = [:]
    for (pair, _) in shared.sorted(by: { $0.value > $1.value })
    where names[pair[1]] == nil && !names.values.contains(pair[0]) { names[pair[1]] = pair[0] }
    var (wrong, all) = (0, 0)
    for n in judged {
      let right = b[n].count { names[$0].map(a[n].contains) ?? false }
      wrong += max(a[n].count, b[n].count) - right
      all += a[n].count
    }
    return (Double(wrong) / Double(all), names)
  }

  @Test(
    "four people at a table, and one who is late, have a number each, and at most 12 % of the time is wrong",
    .nightly,
    .enabled(if: FileManager.default.fileExists(atPath: voices), "alsa-utils' voices are not installed"),
    arguments: ["ring7", "uma8", "respeaker-4mic-hat"])
  func people(device: String) throws {
    let home = try VerbHome()
    let folder = try TemporaryFolder()
    let truth = try Self.meeting(on: device, in: folder)
    let sound = folder.path + "/mics.wav"
    let simulated = try home.pinna(["simulate", folder.path + "/meeting.yaml", sound])
    try #require(simulated.status == 0, "\(simulated)")
    let outcome = try home.pinna(["talkers", "--device", device, sound, "--to", "labels"])
    try #require(outcome.status == 0, "\(outcome)")
    let told = outcome.output.split(separator: "\n").map { line in
      let fields = line.split(separator: "\t")
      return Turn(
        who: String(fields[2]), begin: Int(Double(fields[0])! * 100), end: Int(Double(fields[1])! * 100))
    }
    let (error, names) = Self.error(truth, told)
    #expect(error <= 0.12, "\(error): \(outcome.output)")
    let order = ["talker 1": "p1", "talker 2": "p2", "talker 3": "p3", "talker 4": "p4", "talker 5": "late"]
    #expect(names == order && Set(told.map(\.who)).count == 5, "\(names)")
  }
}
