import Acoustics
import Adaptation
import AudioFiles
import Foundation
import Manifolds
import Presets

/// A line every 100 ms.
private struct Line: Encodable {
  struct Told: Encodable {
    let identity: Int
    let direction: [Double]
    let level: Double
    let confidence: Double
    let active: Bool
  }
  let time: Double
  let talkers: [Told]
}

/// Writes beside each WAV file of a list who speaks where in it, as JSON lines, for talkers.py.
func findTalkers(device name: String, list: String) throws {
  let device = try PresetLibrary(folders: ["Presets"]).device(named: name)
  let array = ArrayTable(try manifold(for: device), sampleRate: 48_000)
  let horizon = device.frame(of: try device.dataSource(named: "Front"), .portrait).up
  let up = horizon.vector
  for path in try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n").map(String.init) {
    let sound = try AudioClip(path: path).channels
    let finder = DirectionFinder(array, up: up)
    let tracker = TalkerTracker(finder, plane: device.hasHeight(along: horizon) ? nil : up)
    var text = ""
    var lines = 0
    for start in stride(from: 0, to: sound[0].count - finder.hop + 1, by: finder.hop) {
      let blocks = sound.map { Array($0[start..<start + finder.hop]) }
      tracker.take(finder.append(blocks), of: finder)
      guard start + finder.hop >= 4800 * (lines + 1) else { continue }
      lines += 1
      let talkers = tracker.talkers
      let told = talkers.indices.compactMap { talkers[$0] }.map {
        Line.Told(
          identity: $0.identity, direction: [$0.direction.x, $0.direction.y, $0.direction.z], level: $0.level,
          confidence: $0.confidence, active: $0.isActive)
      }
      text +=
        String(
          decoding: try JSONEncoder().encode(Line(time: Double(lines) / 10, talkers: told)), as: UTF8.self)
        + "\n"
    }
    try text.write(toFile: String(path.dropLast(4)) + ".talkers.json", atomically: true, encoding: .utf8)
  }
}
