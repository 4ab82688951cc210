import Messages
import Processor
import Realtime
import Recording
import Settings

final class FakeTake: TakeRecording, @unchecked Sendable {
  // Unchecked: used only by the test's thread.
  private static let ring = TakeRing(outputs: 1, capacityFrames: 1)
  private static let plan = TakePlan(
    outputs: 1, sampleRate: 48000, options: TakeOptions(),
    setup: TakeSetup(
      FeedValues(Rig.setting.main),
      TakeCircumstances(preset: "fake", device: "fake", microphones: ["one"], latencyFrames: 0)),
    preRoll: PreRoll(microphones: 1, capacityFrames: 0))
  static let whole = TakeWriter.Result(path: "/takes/whole.wav", sidecar: Sidecar(plan))
  static let incomplete = {
    var sidecar = Sidecar(plan)
    sidecar.missing = ["the last 3 frames"]
    return TakeWriter.Result(path: "/takes/incomplete.wav", sidecar: sidecar)
  }()

  var phase = TakeWriter.Phase.opening
  var path: String? = "/takes/take.wav"
  var frames = 0
  var fault: String?
  var loss: String?
  /// Whether it has the length that was asked for.
  var isOver = false
  var secondsLeft: Int?
  var unansweredFor = Duration.zero
  private(set) var isAbandoned = false
  private(set) var isDiscarded = false
  var plan: TakePlan { Self.plan }

  /// The disk thread is still opening it, and somebody waits for it.
  var isWanted: Bool { isOpening && !isDiscarded }
  var isOpen: Bool { if case .open = phase { true } else { false } }
  func open() { phase = .open(Self.ring) }
  /// The events and notes for its sidecar.
  private(set) var events: [String] = []
  private(set) var notes: [String] = []
  func note(_ what: String) { events.append(what) }
  var preRollFrames = 0
  /// The fallbacks for its sidecar.
  private(set) var fallbacks: [Sidecar.Fallback] = []
  func addFallback(frame: Int, without missing: [String], feed: String) {
    fallbacks.append(.init(frame: frame, without: missing, feed: feed))
  }
  /// The poses for its sidecar.
  private(set) var turns: [Sidecar.Turn] = []
  func addTurn(_ turn: Sidecar.Turn) { turns.append(turn) }
  private(set) var talkers: [Sidecar.Talker] = []
  func add(_ talker: Sidecar.Talker) { talkers.append(talker) }
  private(set) var markers = 0
  func mark(_ label: String) -> Sidecar.Marker {
    markers += 1
    return .init(frame: frames, label: label)
  }
  var title = ""
  func addNote(_ sentence: String) { notes.append(sentence) }
  func abandon() { isAbandoned = true }
  func discard() { isDiscarded = true }
}

final class FakePlayer: TakePlayback, @unchecked Sendable {
  // Unchecked: used only by the test's thread.
  private static let ring = PlaybackRing(capacityFrames: 1)
  var path: String { "/takes/played.wav" }
  var phase = TakePlayer.Phase.opening
  var fault: String?
  private(set) var isAbandoned = false
  /// The disk thread is still opening it, and somebody waits for it.
  var isWanted: Bool { isOpening && !isAbandoned }
  func open() { phase = .open(Self.ring) }
  func abandon() { isAbandoned = true }
  var report: PlaybackReport {
    PlaybackReport(playing: path, frames: 0, channels: 1, framesPlayed: 0, missedFrames: 0)
  }
}
