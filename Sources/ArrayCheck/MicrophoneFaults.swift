import Acoustics
import AudioFiles
import Glibc

/// Which microphones of a recording are dead, or clip: what a running Pinna judges by its meters (`MicrophoneWatch`).
public struct MicrophoneFaults {
  private let device: Device
  private let rate: Double
  private var frames = 0
  /// Of each microphone, the energy, the frames in which it was silent while most others sounded, and the first of these; and
  /// the first one of those among which it clipped.
  private var energies: [Double]
  private var silence: [Int]
  private var firstSilence: [Int?]
  private var firstClip: [Int?]

  /// Seconds of silence that are told; the part of the time from which a microphone is dead; and the level beside the median
  /// of all, in decibels, below which it is.
  private static let (told, most, faint) = (0.7, 0.5, -20.0)
  /// Frames that are judged at once.
  private static let part = 8192

  public init(_ device: Device, sampleRate: Int) {
    (self.device, rate) = (device, Double(sampleRate))
    energies = device.microphones.map { _ in 0 }
    silence = device.microphones.map { _ in 0 }
    firstSilence = device.microphones.map { _ in nil }
    firstClip = firstSilence
  }

  /// - Parameter block: the next frames, `[microphone][frame]`
  public mutating func hear(_ block: [[Float]]) {
    for start in stride(from: 0, to: block[0].count, by: Self.part) {
      hear(part: block.map { Array($0[start..<min($0.count, start + Self.part)]) })
    }
  }

  private mutating func hear(part block: [[Float]]) {
    let own = block.map { channel in
      channel.reduce(0) { $0 + (InvalidSamples.isValid($1) ? Double($1) * Double($1) : 0) }
    }
    let areMostSilent = 2 * own.count { $0 == 0 } > own.count
    for m in block.indices {
      energies[m] += own[m]
      if own[m] == 0, !areMostSilent {
        silence[m] += block[m].count
        firstSilence[m] = firstSilence[m] ?? frames
      }
      if firstClip[m] == nil, ChannelHealth(block[m]).isClipped { firstClip[m] = frames }
    }
    frames += block[0].count
  }

  /// The names of those without which directions are found better.
  public var dead: Set<String> {
    let levels = zip(energies, device.deviations).map { 10 * log10($0) - 20 * log10(abs($1.factor)) }
    let sounding = levels.filter { $0 > -.infinity }.sorted()
    let median = sounding.count < 3 ? -.infinity : sounding[sounding.count / 2]
    let names = device.microphones.indices.filter {
      Double(silence[$0]) > Self.most * Double(frames) || energies[$0] > 0 && levels[$0] < median + Self.faint
    }.map { device.microphones[$0].name }
    // At least two are needed, and a fault of most is none of theirs.
    return 2 * names.count < energies.count && energies.count - names.count >= 2 ? Set(names) : []
  }

  /// One sentence each.
  public var sentences: [String] {
    func time(_ frame: Int) -> String { "\((Double(frame) / rate * 10).rounded() / 10) s" }
    let dead = dead
    return device.microphones.enumerated().flatMap { m, microphone -> [String] in
      var sentences: [String] = []
      if dead.contains(microphone.name) {
        sentences.append("\(microphone.name) is silent, or nearly so: talkers are found without it")
      } else if let first = firstSilence[m], Double(silence[m]) > Self.told * rate {
        sentences.append(
          "\(microphone.name) is silent for \(time(silence[m])), first at \(time(first)): talkers may be missed there"
        )
      }
      if let first = firstClip[m] {
        sentences.append("\(microphone.name) clips, first near \(time(first)): talkers may be missed there")
      }
      return sentences
    }
  }
}
