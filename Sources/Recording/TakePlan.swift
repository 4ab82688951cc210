import Acoustics
import AudioFiles
import FoundationEssentials
import Realtime
import Settings

/// The file format of a take. A value, as all types in this file; any thread.
public enum TakeFormat: String, Sendable, CaseIterable, Codable {
  case float, pcm24
  /// Recorded as WAV, which survives a crash, and converted when the take ends.
  case flac, opus

  var encoding: SampleEncoding {
    switch self {
    case .float, .opus: .float32
    case .pcm24, .flac: .pcm24
    }
  }

  /// Nil for a format that takes are recorded in.
  var compression: Compression? {
    switch self {
    case .float, .pcm24: nil
    case .flac: .flac
    case .opus: .opus
    }
  }

  /// The endings of the names of finished sound files, and of those that were converted.
  static let endings = ["wav"] + convertedEndings
  static let convertedEndings = Compression.allCases.map(\.rawValue)
}

/// The options of a take, as requested.
public struct TakeOptions: Sendable, Hashable {
  /// Whether to write the microphones to a second file.
  public var raw = false
  public var format = TakeFormat.float
  /// Maximum size of a file, in megabytes of 10⁶ bytes.
  public var splitMegabytes: Int?
  /// Maximum duration of a file, in minutes.
  public var splitMinutes: Int?
  /// In seconds, from the first frame after the pre-roll; nil for a take that is ended.
  public var length: Int?
  /// Maximum number of segments; the last one continues to the take's end. There is a limit because the sidecar lists
  /// all segments and is written every second.
  public var maximumSegments = 10_000
  public init() {}
}

/// What a take records, and with which setup.
public struct TakePlan: Sendable {
  /// Channels of main's file: 1 or 2; 0 if main is not recorded.
  public let outputs: Int
  /// The other feeds that are recorded.
  public let feeds: [TakeFeed]
  /// In hertz.
  public let sampleRate: Int
  public let options: TakeOptions
  public let setup: TakeSetup
  /// The engine's pre-roll buffer of `main` and the microphones.
  public let preRoll: PreRoll
  /// Says why the server left Pinna out at that time, on the monotonic clock in microseconds; nil if nothing is known. It
  /// may know a tenth of a second later.
  let explain: (@Sendable (Range<Int>) -> TakeGap.Cause?)?

  public init(
    outputs: Int, feeds: [TakeFeed] = [], sampleRate: Int, options: TakeOptions, setup: TakeSetup,
    preRoll: PreRoll, explain: (@Sendable (Range<Int>) -> TakeGap.Cause?)? = nil
  ) {
    precondition(outputs > 0 || !feeds.isEmpty)
    self.outputs = outputs
    self.feeds = feeds
    self.sampleRate = sampleRate
    self.options = options
    self.setup = setup
    self.preRoll = preRoll
    self.explain = explain
  }

  /// Names of the feeds that are recorded, `main` among them.
  package var feedNames: [String] { (outputs > 0 ? [FeedSetting.main] : []) + feeds.map(\.setup.name) }
  var microphones: Int { options.raw ? setup.microphones.count : 0 }
  /// Channels of all files.
  var channels: Int { outputs + feeds.reduce(0) { $0 + $1.channels } + microphones }
  private var sampleBytes: Int { options.format.encoding == .float32 ? 4 : 3 }
  var bytesPerFrame: Int { channels * sampleBytes }

  /// The ring that the callback fills.
  func makeRing() throws(OutOfMemory) -> TakeRing {
    try TakeRing(
      outputs: outputs, places: feeds.flatMap { $0.firstOutput..<$0.firstOutput + $0.channels },
      microphones: microphones, reservingFrames: ringFrames)
  }

  /// Frames of the pre-roll that end `age` frames before its newest, interleaved as in the ring.
  func readPreRoll(age: Int, frames count: Int) -> [Float] {
    let main = preRoll.read(age: age, frames: count, outputs: outputs, microphones: 0)
    let others = feeds.compactMap { feed in
      feed.preRoll?.read(age: age, frames: count, outputs: feed.channels, microphones: 0)
    }
    let last = preRoll.read(age: age, frames: count, outputs: 0, microphones: microphones)
    let blocks = ([main] + others + [last]).map { (samples: $0, channels: $0.count / max(1, count)) }
    return (0..<count).flatMap { n in
      blocks.flatMap { $0.samples[n * $0.channels..<(n + 1) * $0.channels] }
    }
  }

  /// Returns the pre-roll to the callback.
  func releasePreRoll() {
    if outputs > 0 || microphones > 0 { preRoll.release() }
    for feed in feeds { feed.preRoll?.release() }
  }

  /// Length of a segment in frames; nil for a single segment. No file, header included, exceeds the requested size.
  var splitFrames: Int? {
    let widest = ([outputs, microphones] + feeds.map(\.channels)).max() ?? 0
    let bySize = options.splitMegabytes.map {
      ($0 * 1_000_000 - 4096 - 128 * widest) / (widest * sampleBytes)
    }
    let byTime = options.splitMinutes.map { $0 * 60 * sampleRate }
    return [bySize, byTime].compactMap { $0 }.min()
  }

  /// Frames after the pre-roll with which the take ends by itself; nil if it does not.
  var lengthLimit: Int? { options.length.map { $0 * sampleRate } }

  /// The format that the first file is converted to; nil if it stays WAV.
  public var convertedFormat: String? {
    conversionObstacle == nil ? options.format.compression?.rawValue : nil
  }

  /// Why the first file stays WAV although another format was requested; nil if it does not.
  public var conversionObstacle: String? {
    let first = feeds.min { $0.setup.name < $1.setup.name }
    return options.format.compression?.obstacle(
      channels: outputs > 0 ? outputs : first?.channels ?? 0, sampleRate: sampleRate,
      isAmbisonic: outputs == 0 && first?.setup.order != nil)
  }

  /// Why the microphones' file stays WAV although another format was requested; nil if it does not, or there is none.
  public var microphonesObstacle: String? {
    microphones == 0
      ? nil
      : options.format.compression?.obstacle(
        channels: microphones, sampleRate: sampleRate, areMicrophones: true)
  }

  /// Frames in 256 MB: the limit for the take ring, and for the pre-roll.
  public static func maximumFrames(channels: Int) -> Int { 256_000_000 / (4 * channels) }

  /// Eight seconds, or less if that exceeds 256 MB.
  var ringFrames: Int { min(8 * sampleRate, Self.maximumFrames(channels: channels)) }

  /// A note at the start of a take whose ring is shorter than eight seconds; nil otherwise.
  public var shortRingNote: String? {
    guard ringFrames < 8 * sampleRate else { return nil }
    return String(
      format: "the take survives a stalled disk for %.1f s, not 8 s: 8 s of %d channels would exceed 256 MB",
      Double(ringFrames) / Double(sampleRate), channels)
  }
}

/// The setup that a take was recorded with: the values of `main`, and its circumstances. It never changes during the take;
/// afterwards the seats can be edited.
public typealias TakeSetup = Joined<FeedValues, TakeCircumstances>

/// What a sidecar says of the setup besides the values of `main`.
public struct TakeCircumstances: Codable, Sendable, Hashable {
  public struct Layout: Codable, Sendable, Hashable {
    let left: String
    let right: String
    public init(left: String, right: String) {
      self.left = left
      self.right = right
    }
  }

  /// The name of the Pinna that recorded it; nil in a sidecar of an older one.
  public let pinna: String?
  public let preset: String
  public let device: String
  public let layout: Layout?
  /// Names, in channel order of the microphones' file.
  public let microphones: [String]
  /// Delay of the feeds' files relative to the microphones' file: the latency of the filters.
  public let latencyFrames: Int
  /// The day on which the array was calibrated: "2026-11-23"; nil if it was not.
  public let calibrated: String?
  /// The whole array; nil in a sidecar of an older Pinna.
  public let array: RecordedDevice?
  /// Who sat where, as `Seat.word`; nil if nobody was named.
  public internal(set) var seats: [String]?

  public init(
    preset: String, device: String, layout: Layout? = nil, microphones: [String], latencyFrames: Int,
    calibrated: String? = nil, pinna: String? = nil, array: RecordedDevice? = nil, seats: [Seat] = []
  ) {
    self.seats = seats.isEmpty ? nil : seats.map(\.word)
    self.pinna = pinna
    self.preset = preset
    self.device = device
    self.layout = layout
    self.microphones = microphones
    self.latencyFrames = latencyFrames
    self.calibrated = calibrated
    self.array = array
  }
}

extension FeedValues {
  /// Whether nothing is missing that every sidecar says, and all numbers can be.
  /// - Parameter hasPattern: of B-format the order is said instead.
  func arePossible(hasPattern: Bool) -> Bool {
    let needed: [SettingKey] = [.dataSource, .orientation, .gain, .mute] + (hasPattern ? [.pattern] : [])
    return needed.allSatisfy { self[$0] != nil }
      && SettingKey.ofFeeds.allSatisfy { key in
        guard case .number(let range, _, let hasOff) = key.row.kind, let number = self[key]?.number else {
          return true
        }
        return range.contains(number) || hasOff && number == 0
      }
  }
}
