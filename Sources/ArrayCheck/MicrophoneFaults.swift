import Acoustics
import AudioFiles
import Glibc

/// Which microphones of a recording are dead, or clip: what a running Pinna judges by its meters (`MicrophoneWatch`).
public struct MicrophoneFaults {
  private let device: Device
  private let rate: Double
  private var frames = 0
  /// Of each microphone, the energy; the frames in which it was silent while most others sounded, and the first of these; and
  /// the same of those among which it clipped.
  private var energies: [Double]
  private var silence: [(frames: Int, first: Int)]
  private var clipping: [(frames: Int, first: Int)]
  /// The frame until which each is muted, because it sent invalid samples.
  private var mutedUntil: [Int]

  /// Seconds of silence that are told; the parts of the time from which a silent microphone, and one that clips, is left out;
  /// and the level beside the median of all, in decibels, below which one is.
  private static let (told, mostSilence, mostClipping, faint) = (0.7, 0.5, 0.1, -20.0)
  /// Frames that are judged at once.
  private static let part = 8192

  public init(_ device: Device, sampleRate: Int) {
    (self.device, rate) = (device, Double(sampleRate))
    energies = device.microphones.map { _ in 0 }
    silence = device.microphones.map { _ in (0, 0) }
    clipping = silence
    mutedUntil = device.microphones.map { _ in 0 }
  }

  /// - Parameter block: the next frames, `[microphone][frame]`
  public mutating func hear(_ block: [[Float]]) {
    for start in stride(from: 0, to: block[0].count, by: Self.part) {
      hear(part: block.map { Array($0[start..<min($0.count, start + Self.part)]) })
    }
  }

  private mutating func hear(part block: [[Float]]) {
    let own = block.map(InvalidSamples.energy)
    let areMostSilent = 2 * own.count { $0 == 0 } > own.count
    for m in block.indices {
      energies[m] += own[m]
      if !block[m].allSatisfy(InvalidSamples.isValid) { mutedUntil[m] = frames + block[m].count + Int(rate) }
      if frames < mutedUntil[m] || own[m] == 0 && !areMostSilent {
        silence[m] = noted(silence[m], block[m].count)
      }
      if ChannelHealth(block[m]).isClipped { clipping[m] = noted(clipping[m], block[m].count) }
    }
    frames += block[0].count
  }

  private func noted(_ times: (frames: Int, first: Int), _ count: Int) -> (frames: Int, first: Int) {
    (times.frames + count, times.frames == 0 ? frames : times.first)
  }

  /// The names of those without which directions are found better.
  public var dead: Set<String> {
    let levels = zip(energies, device.deviations).map { 10 * log10($0) - 20 * log10(abs($1.factor)) }
    let sounding = levels.filter { $0 > -.infinity }.sorted()
    let median = sounding.count < 3 ? -.infinity : sounding[sounding.count / 2]
    let names = device.microphones.indices.filter {
      Double(silence[$0].frames) > Self.mostSilence * Double(frames)
        || Double(clipping[$0].frames) > Self.mostClipping * Double(frames)
        || energies[$0] > 0 && levels[$0] < median + Self.faint
    }.map { device.microphones[$0].name }
    // At least two are needed, and a fault of most is none of theirs.
    return 2 * names.count < energies.count && energies.count - names.count >= 2 ? Set(names) : []
  }

  /// One sentence each.
  public var sentences: [String] {
    func time(_ frame: Int) -> String { "\((Double(frame) / rate * 10).rounded() / 10) s" }
    let dead = dead
    return device.microphones.enumerated().flatMap { m, microphone -> [String] in
      let (name, isDead) = (microphone.name, dead.contains(microphone.name))
      let end = isDead ? "talkers are found without it" : "talkers may be missed there"
      var sentences: [String] = []
      if clipping[m].frames > 0 {
        sentences.append("\(name) clips, first near \(time(clipping[m].first)): \(end)")
      } else if isDead {
        sentences.append("\(name) is silent, or nearly so: \(end)")
      }
      if !isDead, Double(silence[m].frames) > Self.told * rate {
        sentences.append(
          "\(name) is silent for \(time(silence[m].frames)), first at \(time(silence[m].first)): \(end)")
      }
      return sentences
    }
  }
}
