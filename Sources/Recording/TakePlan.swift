import AudioFiles
import Foundation
import Realtime

/// How a take is kept.
public enum TakeFormat: String, Sendable, CaseIterable, Codable {
  case float, pcm24
  /// Recorded as WAV, which survives a crash, and converted at the end.
  case flac, opus

  var encoding: SampleEncoding { self == .float || self == .opus ? .float32 : .pcm24 }
  var compression: Compression? { Compression(rawValue: rawValue) }
}

/// What a take is to be, as its sender asked for it.
public struct TakeOptions: Sendable, Hashable {
  /// The microphones as a second file.
  public var raw = false
  public var format = TakeFormat.float
  /// Files of at most so many megabytes of 10⁶ bytes, and so many minutes.
  public var splitMegabytes: Int?
  public var splitMinutes: Int?
  /// The last one goes on to the take's end: a sidecar lists each, and is written every second.
  public var mostStretches = 10_000
  public init() {}
}

/// What is recorded, and how it is set up.
public struct TakePlan: Sendable {
  /// 1 or 2.
  public let outputs: Int
  public let sampleRate: Int
  public let options: TakeOptions
  public let setup: TakeSetup
  /// What the engine kept of the time before.
  public let preRoll: PreRoll

  public init(outputs: Int, sampleRate: Int, options: TakeOptions, setup: TakeSetup, preRoll: PreRoll) {
    self.outputs = outputs
    self.sampleRate = sampleRate
    self.options = options
    self.setup = setup
    self.preRoll = preRoll
  }

  var microphones: Int { options.raw ? setup.microphones.count : 0 }
  private var sampleBytes: Int { options.format.encoding == .float32 ? 4 : 3 }
  var bytesPerFrame: Int { (outputs + microphones) * sampleBytes }

  /// Length of a stretch that is split off; nil for all in one. No file of it, header included, is larger than asked.
  var splitFrames: Int? {
    let bySize = options.splitMegabytes.map {
      ($0 * 1_000_000 - 4096) / (max(outputs, microphones) * sampleBytes)
    }
    let byTime = options.splitMinutes.map { $0 * 60 * sampleRate }
    return [bySize, byTime].compactMap { $0 }.min()
  }

  /// As many frames as 256 MB hold: the most that is kept for a slow disk, and of the time before a take.
  public static func mostFrames(channels: Int) -> Int { 256_000_000 / (4 * channels) }

  /// Eight seconds, or less where that passes 256 MB.
  var ringFrames: Int { min(8 * sampleRate, Self.mostFrames(channels: outputs + microphones)) }

  /// Said at the start, where the disk may be slow for less than eight seconds.
  public var shortRing: String? {
    guard ringFrames < 8 * sampleRate else { return nil }
    return String(
      format: "a disk that stands still is waited for %.1f s, not 8 s: more of %d channels passes 256 MB",
      Double(ringFrames) / Double(sampleRate), outputs + microphones)
  }
}

/// The setting that a take was made with; nothing of it changes while it runs.
public struct TakeSetup: Codable, Sendable, Hashable {
  public struct Layout: Codable, Sendable, Hashable {
    let left: String
    let right: String
    public init(left: String, right: String) {
      self.left = left
      self.right = right
    }
  }

  public let preset: String
  public let device: String
  public let dataSource: String
  public let polarPattern: String
  public let inputOrientation: String
  public let layout: Layout?
  public let gainDB: Double
  public let muted: Bool
  /// In the order of the second file's channels.
  public let microphones: [String]
  /// From the microphones' file to the outputs': the filters' delay.
  public let latencyFrames: Int

  public init(
    preset: String, device: String, dataSource: String, polarPattern: String, inputOrientation: String,
    layout: Layout?, gainDB: Double, muted: Bool, microphones: [String], latencyFrames: Int
  ) {
    self.preset = preset
    self.device = device
    self.dataSource = dataSource
    self.polarPattern = polarPattern
    self.inputOrientation = inputOrientation
    self.layout = layout
    self.gainDB = gainDB
    self.muted = muted
    self.microphones = microphones
    self.latencyFrames = latencyFrames
  }
}
