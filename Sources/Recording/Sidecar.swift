import Acoustics
import AudioFiles
import FoundationEssentials
import Glibc
import Realtime
import Settings
import Text
import Threads

// Here, because the engine's files do without what embedded Swift lacks (tools/arm64).
extension TakeGap.Cause: Codable {}

/// The sidecar of a take, NAME.json: its setup, its files, and what is missing.
///
/// Thread: any; a value. `read` waits for the disk.
public struct Sidecar: Codable, Sendable, Hashable {
  public enum State: String, Codable, Sendable {
    case recording, complete, incomplete
    /// A crash interrupted it, and `pinna takes repair` finished it.
    case repaired
  }

  /// Missing frames, which silence replaces.
  public struct Gap: Codable, Sendable, Hashable {
    /// Frame of the take at which it begins, pre-roll included.
    public let frame: Int
    /// Length in frames.
    public let frames: Int
    public let cause: TakeGap.Cause

    public init(frame: Int, frames: Int, cause: TakeGap.Cause) {
      self.frame = frame
      self.frames = frames
      self.cause = cause
    }
  }

  /// A stall of the server: there were no frames, and nothing was inserted.
  public struct Pause: Codable, Sendable, Hashable {
    /// Frame of the take before which the server stalled.
    public let frame: Int
    /// Duration of the stall, beyond the duration of the server's frames.
    public let seconds: Double

    public init(frame: Int, seconds: Double) {
      self.frame = frame
      self.seconds = seconds
    }
  }

  /// Totals of the gaps or pauses beyond the listed ones.
  public struct Unlisted: Codable, Sendable, Hashable {
    public let cause: TakeGap.Cause
    /// Frame at which the first of them begins.
    public let frame: Int
    public var count = 0
    /// Frames replaced by silence; 0 for pauses.
    public var frames = 0
    /// Duration of the server's stalls; 0 for gaps.
    public var seconds = 0.0

    init(_ cause: TakeGap.Cause, from frame: Int) {
      self.cause = cause
      self.frame = frame
    }
  }

  /// From a frame on, the filters of a feed did without some microphones. They faded over 20 ms.
  public struct Fallback: Codable, Sendable, Hashable {
    /// Frame of the take, pre-roll included.
    public let frame: Int
    /// Names of the missing microphones; empty for the filters of all microphones.
    public let without: [String]
    /// Name of the feed; in the file, that of `main` is not said.
    public var feed: String { other ?? FeedSetting.main }
    let other: String?
    private enum CodingKeys: String, CodingKey {
      case frame, without
      case other = "feed"
    }

    public init(frame: Int, without: [String], feed: String = FeedSetting.main) {
      (self.frame, self.without) = (frame, without)
      other = FeedSetting.isMain(feed) ? nil : feed
    }
  }

  /// Something that happened during the take.
  public struct Event: Codable, Sendable, Hashable {
    /// Frames of the take on disk when it happened.
    public let frame: Int
    /// What happened, as a sentence.
    public let what: String
  }

  /// A place that somebody marked during the take. The WAV files have it as a cue.
  public struct Marker: Codable, Sendable, Hashable {
    /// Frame of the take, pre-roll included.
    public let frame: Int
    public let label: String

    public init(frame: Int, label: String) {
      self.frame = frame
      self.label = label
    }
  }

  /// How the engine computed the feeds of a take whose microphones were recorded, so that they can be computed again.
  public struct Engine: Codable, Sendable, Hashable {
    /// In frames, when the take began.
    public let period: Int
    /// The engine's clock at the first frame after the pre-roll, where a period began.
    public let frame: Int
    public let instructionSet: String
  }

  /// The files of one segment, by their names in the take's folder.
  public struct Files: Codable, Sendable, Hashable {
    /// Frame of the take at which the segment begins.
    public internal(set) var frame: Int
    public var frames: Int
    /// Of `main`; nil if it was not recorded.
    public var outputs: String?
    /// Of the other feeds, by the names of the feeds; nil if none was recorded.
    public var feeds: [String: String]?
    public var microphones: String?
    /// Of the sound in that file (`SoundDigest`); nil if it was not taken.
    public var microphonesDigest: String?
  }

  /// Version of the sidecar's own format (`format` is the sound's); nil in those written before versions. It changes
  /// when the meaning of a field does, not when fields are added.
  public var formatVersion: Int? = 1
  public var state = State.recording
  public var files: [Files] = []
  public var frames = 0
  public let sampleRate: Int
  /// Channels of main's file: 1 or 2; 0 if main was not recorded.
  public let channels: Int
  public var format: String
  /// Local time of the first frame, pre-roll included: ISO 8601 to the millisecond.
  public var started: String?
  /// Frames recorded before the take was requested.
  public var preRollFrames = 0
  /// The transport's frame at the first frame after the pre-roll; nil if the take was not begun by the transport.
  public var transportFrame: Int?
  /// Nil if the microphones were not recorded.
  public var engine: Engine?
  /// The title that the user gave; nil without one.
  public var title: String?
  public internal(set) var setup: TakeSetup
  /// The feeds that were recorded besides `main`, in order; nil if there are none.
  public let feeds: [FeedSetup]?
  /// The first `listLimit` markers; nil if there are none.
  public var markers: [Marker]?
  /// The first `listLimit` gaps.
  public var gaps: [Gap] = []
  /// The first `listLimit` pauses.
  public var pauses: [Pause] = []
  /// Totals of the gaps and pauses that are not listed, one entry per cause; nil if all are listed.
  public var unlisted: [Unlisted]?
  /// The first `listLimit` changes of the filters that missing microphones caused; nil if there were none.
  public var fallbacks: [Fallback]?
  /// By name, what feeds played that followed a pose, as `Turn.text`; nil if none did.
  public var turns: [String: String]?
  /// Who spoke where, as `Talker.text`; nil if nobody looked for talkers, or nobody spoke.
  public var talkers: String?
  /// The first `listLimit` events.
  public var events: [Event] = []
  /// Samples above full scale, clipped by an integer format.
  public var clippedSamples = 0
  /// NaN and infinite samples, written as silence.
  public var silencedSamples = 0
  /// Deviations from the request that lose nothing.
  public var notes: [String] = []
  /// What is missing from the take, one sentence each.
  public var missing: [String] = []

  package init(_ plan: TakePlan) {
    sampleRate = plan.sampleRate
    channels = plan.outputs
    format = plan.options.format.rawValue
    setup = plan.setup
    feeds = plan.feeds.isEmpty ? nil : plan.feeds.map(\.setup)
  }

  /// The maximum number of gaps, of pauses, of events, of fallbacks, and of markers in a sidecar. Frames may be lost in
  /// every period for hours, and the sidecar must still be written every second.
  public static let listLimit = 10_000
  /// In bytes: far more than full lists need.
  static let sizeLimit = 64 << 20

  /// - Throws: `TakeError`, a sentence that says what is wrong with the file at `path`.
  public static func read(_ path: String) throws(TakeError) -> Sidecar {
    // Opening a FIFO without a writer would never return.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw TakeError("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    return try read(descriptor, path: path)
  }

  /// - Parameters:
  ///   - descriptor: of the file, which stays open.
  ///   - path: the file's name in messages.
  static func read(_ descriptor: Int32, path: String) throws(TakeError) -> Sidecar {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw TakeError("\(path) is not a regular file, so it cannot be a take's sidecar")
    }
    guard status.st_size <= sizeLimit else {
      throw TakeError("\(path) is larger than \(sizeLimit >> 20) MiB, so it cannot be a take's sidecar")
    }
    ReadFiles.add(descriptor)
    guard let bytes = Descriptor.readAll(descriptor, limit: sizeLimit),
      let sidecar = try? JSONDecoder().decode(Sidecar.self, from: Data(bytes)), !sidecar.files.isEmpty
    else { throw TakeError("\(path) is not a take's sidecar, or it is damaged") }
    guard sidecar.isPossible else {
      throw TakeError("\(path) has numbers that no take can have, so it is damaged")
    }
    return sidecar
  }

  /// Whether its numbers can be those of a take. Programs compute with them.
  private var isPossible: Bool {
    let counts = 0...1 << 53
    func isSpan(_ frame: Int, _ frames: Int) -> Bool { counts.contains(frame) && counts.contains(frames) }
    func isTotal(_ lengths: [Int]) -> Bool {
      lengths.count <= 1 << 20 && lengths.allSatisfy(counts.contains)
        && lengths.reduce(0) { min(1 << 54, $0 + $1) } <= 1 << 53
    }
    let isEngine =
      engine.map { (1...Partitioning.longestPeriod).contains($0.period) && counts.contains($0.frame) } ?? true
    let areFeeds = (feeds ?? []).allSatisfy {
      (1...64).contains($0.channels.count) && $0.first.arePossible(hasPattern: $0.order == nil)
        && (1...4).contains($0.order ?? 1)
    }
    return isEngine && areFeeds && (0...2).contains(channels) && (channels > 0 || feeds?.isEmpty == false)
      && (1...1_000_000).contains(sampleRate)
      && counts.contains(frames) && counts.contains(preRollFrames)
      && files.allSatisfy { counts.contains($0.frame) }
      && isTotal(files.map(\.frames)) && isTotal(gaps.map(\.frames))
      && setup.microphones.count <= Device.microphoneLimit && setup.first.arePossible(hasPattern: true)
      && gaps.allSatisfy { isSpan($0.frame, $0.frames) }
      && (markers ?? []).allSatisfy { counts.contains($0.frame) }
      && (fallbacks ?? []).allSatisfy { counts.contains($0.frame) }
      && (unlisted ?? []).allSatisfy { isSpan($0.frame, $0.frames) }
  }

  /// The first listed file that does not belong to the take named `stem`; nil if all do. Without this check, a forged
  /// sidecar could change the files of another take.
  func foreignFile(stem: String) -> String? {
    for (n, files) in files.enumerated() {
      let own = Files.names(of: self, stem: stem, segment: n)
      let pairs =
        [(files.outputs, own.outputs), (files.microphones, own.microphones)]
        + (files.feeds ?? [:]).map { ($0.value, own.feeds?[$0.key]) }
      for case (let name?, let wav) in pairs {
        let base = (wav ?? "").dropLast(4)
        if !TakeFormat.endings.contains(where: { name == "\(base).\($0)" }) { return name }
      }
    }
    return nil
  }

  /// The same with the names that its files have beside a sidecar named `stem`: a take may have been renamed as a whole.
  /// Unchanged if none of these files is there.
  func renamed(to stem: String, isThere: (String) -> Bool) -> Sidecar {
    var renamed = self
    for n in files.indices {
      let own = Files.names(of: self, stem: stem, segment: n)
      func name(_ listed: String, _ wav: String?) -> String {
        guard let base = wav?.dropLast(4) else { return listed }
        let ending = listed.split(separator: ".").last.map(String.init) ?? "wav"
        return "\(base)." + (([ending] + TakeFormat.endings).first { isThere("\(base).\($0)") } ?? ending)
      }
      renamed.files[n].outputs = files[n].outputs.map { name($0, own.outputs) }
      renamed.files[n].microphones = files[n].microphones.map { name($0, own.microphones) }
      for (feed, listed) in files[n].feeds ?? [:] {
        renamed.files[n].feeds?[feed] = name(listed, own.feeds?[feed])
      }
    }
    return renamed.files.contains { $0.names.contains(where: isThere) } ? renamed : self
  }

  mutating func add(_ gap: Gap) {
    if gaps.count < Self.listLimit { return gaps.append(gap) }
    addUnlisted(gap.cause, at: gap.frame, frames: gap.frames, seconds: 0)
  }

  /// Gives the gap at `frame`, if it is listed, another cause. Lists the place as one without frames if it is
  /// freewheel, or another period, with which PipeWire's clock can fall back.
  mutating func explain(gapAt frame: Int, by cause: TakeGap.Cause) {
    let next = gaps.firstIndex { $0.frame >= frame } ?? gaps.count
    if next < gaps.count, gaps[next].frame == frame {
      gaps[next] = Gap(frame: frame, frames: gaps[next].frames, cause: cause)
    } else if cause == .freewheel || cause == .period, gaps.count < Self.listLimit {
      gaps.insert(Gap(frame: frame, frames: 0, cause: cause), at: next)
    }
  }

  mutating func add(_ pause: Pause) {
    if pauses.count < Self.listLimit { return pauses.append(pause) }
    addUnlisted(.server, at: pause.frame, frames: 0, seconds: pause.seconds)
  }

  private mutating func addUnlisted(_ cause: TakeGap.Cause, at frame: Int, frames: Int, seconds: Double) {
    var all = unlisted ?? []
    if !all.contains(where: { $0.cause == cause }) { all.append(Unlisted(cause, from: frame)) }
    for n in all.indices where all[n].cause == cause {
      all[n].count += 1
      all[n].frames += frames
      all[n].seconds += seconds
    }
    unlisted = all
  }

  mutating func add(_ more: [Fallback]) {
    guard !more.isEmpty else { return }
    let listed = fallbacks ?? []
    fallbacks = listed + more.prefix(max(0, Self.listLimit - listed.count))
  }

  mutating func add(_ more: [Marker]) {
    guard !more.isEmpty else { return }
    let listed = markers ?? []
    markers = listed + more.prefix(max(0, Self.listLimit - listed.count))
  }

  /// The places of markers in the file of some frames of the take.
  /// - Parameter isLast: whether the take ends with it. A marker may be newer than the last frame on disk.
  static func cues(_ markers: [Marker], from start: Int, frames: Int, isLast: Bool) -> [WAVCue] {
    markers.filter { $0.frame >= start && (isLast || $0.frame < start + frames) }.map {
      WAVCue(frame: min($0.frame - start, frames), label: $0.label)
    }
  }

  /// The places of the markers within some files.
  public func cues(in own: Files) -> [WAVCue] {
    Self.cues(markers ?? [], from: own.frame, frames: own.frames, isLast: own.frame == files.last?.frame)
  }

  /// When some files began, by `started`, which is exact to a millisecond; nil without it.
  public func broadcast(of own: Files) -> BroadcastExtension? {
    guard let match = started?.wholeMatch(of: /(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3}).*/)?.output,
      (1...1_000_000).contains(sampleRate)
    else { return nil }
    let numbers = [match.2, match.3, match.4, match.5].map { Int($0) ?? 0 }
    let milliseconds = ((numbers[0] * 60 + numbers[1]) * 60 + numbers[2]) * 1000 + numbers[3]
    let reference = (milliseconds * sampleRate + 500) / 1000 + own.frame
    func digits(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
    let (day, seconds) = (reference / sampleRate / 86_400, reference / sampleRate % 86_400)
    return BroadcastExtension(
      description: "", date: Self.date(match.1, days: day),
      time: [seconds / 3600, seconds / 60 % 60, seconds % 60].map(digits).joined(separator: ":"),
      timeReference: reference - day * 86_400 * sampleRate)
  }

  /// - Parameter date: year, month, and day, as in `started`.
  private static func date(_ date: Substring, days: Int) -> String {
    let numbers = date.split(separator: "-").compactMap { Int32($0) }
    guard days > 0, numbers.count == 3 else { return String(date) }
    var time = tm()
    (time.tm_year, time.tm_mon) = (numbers[0] - 1900, numbers[1] - 1)
    time.tm_mday = numbers[2] + Int32(min(days, 1 << 20))
    // Carries days over to months and years.
    timegm(&time)
    let parts = [time.tm_year + 1900, time.tm_mon + 1, time.tm_mday]
    return parts.map { ($0 < 10 ? "0" : "") + "\($0)" }.joined(separator: "-")
  }

  /// The feeds of the take, each with its values and the names of its channels: `main`, which has none if it was not
  /// recorded, then the others.
  public var allFeeds: [(name: String, values: FeedValues, channels: [String])] {
    [(FeedSetting.main, setup.first, Array(["left", "right"].prefix(channels)))]
      + (feeds ?? []).map { ($0.name, $0.values, $0.channels) }
  }

  /// The names of the feeds that were recorded, in order.
  public var feedNames: [String] { allFeeds.filter { !$0.channels.isEmpty }.map(\.name) }

  mutating func add(_ more: [Event]) { events += more.prefix(max(0, Self.listLimit - events.count)) }

  /// The total of the gaps with `cause`, listed or not; nil if there are none.
  func total(of cause: TakeGap.Cause) -> (first: Int, count: Int, frames: Int)? {
    let listed = gaps.filter { $0.cause == cause }
    let rest = unlisted?.first { $0.cause == cause }
    guard let first = listed.first?.frame ?? rest?.frame else { return nil }
    return (first, listed.count + (rest?.count ?? 0), listed.reduce(rest?.frames ?? 0) { $0 + $1.frames })
  }

  func encoded() -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    // Notes name other programs' ports, and a terminal may show the file.
    let text = String(decoding: (try? encoder.encode(self)) ?? Data(), as: UTF8.self)
    return Array(text.printableJSON.utf8) + [0x0A]
  }
}

extension Sidecar.Files {
  /// Refuses names that lead out of the folder, and impossible frame numbers.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    frame = try container.decode(Int.self, forKey: .frame)
    frames = try container.decode(Int.self, forKey: .frames)
    outputs = try container.decodeIfPresent(String.self, forKey: .outputs)
    feeds = try container.decodeIfPresent([String: String].self, forKey: .feeds)
    microphones = try container.decodeIfPresent(String.self, forKey: .microphones)
    microphonesDigest = try container.decodeIfPresent(String.self, forKey: .microphonesDigest)
    let isSafe = names.allSatisfy { !$0.utf8.contains { $0 == 0x2F || $0 == 0 } }
    guard isSafe, outputs != nil || feeds?.isEmpty == false, (0...1 << 53).contains(frame),
      (0...1 << 53).contains(frames), (feeds ?? [:]).keys.allSatisfy(FeedSetting.isName)
    else {
      throw TakeError("\(first) is not a file of a take")
    }
  }

  /// All of them: main's, those of other feeds, the microphones'.
  public var names: [String] {
    [outputs].compactMap { $0 } + (feeds ?? [:]).sorted { $0.key < $1.key }.map(\.value)
      + [microphones].compactMap { $0 }
  }

  /// The first of them: main's, or else that of the feed whose name comes first in the alphabet.
  public var first: String { names.first ?? "" }

  /// Replaces every name by what `body` makes of it.
  mutating func rename(_ body: (String) -> String) {
    outputs = outputs.map(body)
    feeds = feeds?.mapValues(body)
    microphones = microphones.map(body)
  }

  /// Omits the files whose names `body` is true for.
  mutating func omit(_ body: (String) -> Bool) {
    if let name = outputs, body(name) { outputs = nil }
    feeds = feeds?.filter { !body($0.value) }
    if feeds?.isEmpty == true { feeds = nil }
    if let name = microphones, body(name) { microphones = nil }
  }

  /// The WAV files that a segment has if every feed of the take and the microphones are recorded.
  /// - Parameter segment: counts from 0.
  static func names(of sidecar: Sidecar, stem: String, segment: Int) -> Sidecar.Files {
    let base = segment == 0 ? stem : "\(stem)_\(segment + 1)"
    let names = (sidecar.feeds ?? []).map(\.name).filter(FeedSetting.isName)
    return Sidecar.Files(
      frame: 0, frames: 0, outputs: sidecar.channels > 0 ? base + ".wav" : nil,
      feeds: names.isEmpty
        ? nil : Dictionary(names.map { ($0, "\(base)-\($0).wav") }, uniquingKeysWith: { a, _ in a }),
      microphones: base + "-microphones.wav")
  }
}
