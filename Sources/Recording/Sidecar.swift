import AudioFiles
import Foundation
import Realtime

/// What a program, or a person, needs to know of a take beside its sound: NAME.json.
public struct Sidecar: Codable, Sendable, Hashable {
  public enum State: String, Codable, Sendable {
    case recording, complete, incomplete
    /// A crash cut it off, and `pinna takes repair` finished it.
    case repaired
  }

  /// Sound that is missing: silence stands in its place.
  public struct Gap: Codable, Sendable, Hashable {
    public let frame: Int
    public let frames: Int
    public let cause: TakeGap.Cause

    public init(frame: Int, frames: Int, cause: TakeGap.Cause) {
      self.frame = frame
      self.frames = frames
      self.cause = cause
    }
  }

  /// Time in which the server stood still, so that there were no frames; nothing was inserted.
  public struct Pause: Codable, Sendable, Hashable {
    public let frame: Int
    public let seconds: Double

    public init(frame: Int, seconds: Double) {
      self.frame = frame
      self.seconds = seconds
    }
  }

  /// Gaps, or pauses of the server, that came after the listed ones: counted, and summed up.
  public struct Unlisted: Codable, Sendable, Hashable {
    public let cause: TakeGap.Cause
    /// Where the first of them begins.
    public let frame: Int
    public var count = 0
    /// That silence takes the place of; 0 for pauses.
    public var frames = 0
    /// That the server stood still; 0 for gaps.
    public var seconds = 0.0

    init(_ cause: TakeGap.Cause, from frame: Int) {
      self.cause = cause
      self.frame = frame
    }
  }

  /// Something that happened while the take ran.
  public struct Event: Codable, Sendable, Hashable {
    public let frame: Int
    public let what: String
  }

  /// Files of the take, by their names in its folder.
  public struct Files: Codable, Sendable, Hashable {
    /// Frame of the take at which they begin.
    public let frame: Int
    public var frames: Int
    public var outputs: String
    public var microphones: String?
  }

  public var state = State.recording
  public var files: [Files] = []
  public var frames = 0
  public let sampleRate: Int
  /// Of the outputs' file: 1 or 2.
  public let channels: Int
  public var format: String
  /// Local time of the first frame, pre-roll included: ISO 8601 to the millisecond.
  public var started: String?
  /// Frames from before the take was asked for.
  public var preRollFrames = 0
  public let setup: TakeSetup
  /// The first `mostListed`.
  public var gaps: [Gap] = []
  /// The first `mostListed`.
  public var pauses: [Pause] = []
  /// What came after those, an entry for each cause; nil where all are listed.
  public var unlisted: [Unlisted]?
  /// The first `mostListed`.
  public var events: [Event] = []
  /// Samples over full scale that integers could not hold.
  public var clippedSamples = 0
  /// Samples that were no numbers, and are silence.
  public var silencedSamples = 0
  /// What is otherwise than asked for, though nothing is missing.
  public var notes: [String] = []
  /// What the take lacks, a sentence each.
  public var missing: [String] = []

  package init(_ plan: TakePlan) {
    sampleRate = plan.sampleRate
    channels = plan.outputs
    format = plan.options.format.rawValue
    setup = plan.setup
  }

  /// So many gaps, pauses and events a sidecar lists each: it can be written every second and read whatever happens
  /// during a take. Sound may be missing in every period for hours.
  public static let mostListed = 10_000
  /// In bytes: many times what the most that is listed takes.
  private static let sizeLimit = 64 << 20

  /// - Throws: `TakeError`, a sentence that says what is wrong with the file at `path`.
  public static func read(_ path: String) throws(TakeError) -> Sidecar {
    // Opening a FIFO that nobody writes to would never return.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw TakeError("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    return try read(descriptor, path: path)
  }

  /// - Parameters:
  ///   - descriptor: of the file; it stays open.
  ///   - path: what messages call it.
  static func read(_ descriptor: Int32, path: String) throws(TakeError) -> Sidecar {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw TakeError("\(path) is not a file, as a take's sidecar is")
    }
    guard status.st_size <= sizeLimit else {
      throw TakeError("\(path) is larger than \(sizeLimit >> 20) MiB, as no sidecar of a take is")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    guard let data = try? handle.read(upToCount: sizeLimit),
      let sidecar = try? JSONDecoder().decode(Sidecar.self, from: data), !sidecar.files.isEmpty
    else { throw TakeError("\(path) is no sidecar of a take, or a damaged one") }
    return sidecar
  }

  /// The first of its files that is none of the take whose files' names begin with `stem`; nil where all are. Without
  /// this, whoever can write a sidecar says what becomes of another take's files.
  func stranger(to stem: String) -> String? {
    for (n, files) in files.enumerated() {
      let base = n == 0 ? stem : "\(stem)_\(n + 1)"
      for (name, middle) in [(files.outputs, ""), (files.microphones, "-microphones")] {
        guard let name else { continue }
        if !["wav", "flac", "opus"].contains(where: { name == "\(base)\(middle).\($0)" }) { return name }
      }
    }
    return nil
  }

  mutating func add(_ gap: Gap) {
    if gaps.count < Self.mostListed { return gaps.append(gap) }
    sumUp(gap.cause, at: gap.frame, frames: gap.frames, seconds: 0)
  }

  mutating func add(_ pause: Pause) {
    if pauses.count < Self.mostListed { return pauses.append(pause) }
    sumUp(.server, at: pause.frame, frames: 0, seconds: pause.seconds)
  }

  private mutating func sumUp(_ cause: TakeGap.Cause, at frame: Int, frames: Int, seconds: Double) {
    var all = unlisted ?? []
    if !all.contains(where: { $0.cause == cause }) { all.append(Unlisted(cause, from: frame)) }
    for n in all.indices where all[n].cause == cause {
      all[n].count += 1
      all[n].frames += frames
      all[n].seconds += seconds
    }
    unlisted = all
  }

  mutating func add(_ more: [Event]) { events += more.prefix(max(0, Self.mostListed - events.count)) }

  /// What is missing for `cause`, listed or not; nil where nothing is.
  func total(of cause: TakeGap.Cause) -> (first: Int, count: Int, frames: Int)? {
    let listed = gaps.filter { $0.cause == cause }
    let rest = unlisted?.first { $0.cause == cause }
    guard let first = listed.first?.frame ?? rest?.frame else { return nil }
    return (first, listed.count + (rest?.count ?? 0), listed.reduce(rest?.frames ?? 0) { $0 + $1.frames })
  }

  func encoded() -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return Array((try? encoder.encode(self)) ?? Data()) + [0x0A]
  }
}

extension Sidecar.Files {
  /// Refuses names that lead out of the folder, and numbers that no take reaches.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    frame = try container.decode(Int.self, forKey: .frame)
    frames = try container.decode(Int.self, forKey: .frames)
    outputs = try container.decode(String.self, forKey: .outputs)
    microphones = try container.decodeIfPresent(String.self, forKey: .microphones)
    let isSafe = [outputs, microphones ?? ""].allSatisfy { !$0.utf8.contains { $0 == 0x2F || $0 == 0 } }
    guard isSafe, (0...1 << 53).contains(frame), (0...1 << 53).contains(frames) else {
      throw TakeError("\(outputs) is no file of a take")
    }
  }
}
