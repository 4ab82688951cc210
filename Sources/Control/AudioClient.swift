import Acoustics
import FilterDesign
import JackClient
import Realtime
import Recording

/// What the processor asks of the world outside it. `JackWorld` is the real one; tests have another.
///
/// Thread: control. Every call returns at once.
package protocol AudioWorld: AnyObject {
  var now: ContinuousClock.Instant { get }
  /// What the preset of that name sets, as its file stands now.
  func setting(ofPreset name: String) -> Job<Setting>
  /// Opens a client in the server's graph. Fails with `noServer` where there is none.
  func openClient() -> Job<any AudioClient>
  /// The filter sets of every case of `device`: read, or designed.
  func design(_ device: Device, sampleRate: Int) -> Job<any DeviceFilters>
  func openTake(_ request: TakeRequest, _ setting: Setting, on client: any AudioClient) -> any TakeRecording
  func openPlayback(_ path: String, sampleRate: Int) -> any TakePlayback
}

/// The filter sets of one device at one sample rate.
package protocol DeviceFilters: Sendable {
  var bank: FilterBank { get }
  /// - Throws: `UnknownWord` or `Unsupported` where the device does not offer `selection`.
  func check(_ selection: Selection, of device: Device) throws
}

extension DeviceFilters {
  var sampleRate: Int { bank.sampleRate }
}

/// A client in a JACK graph, and the engine in its callback. `JackAudioClient` is the real one; tests have another.
///
/// Thread: control. Every call returns at once: what JACK may take its time for is a job.
package protocol AudioClient: AnyObject, Sendable {
  var sampleRate: Int { get }
  /// Why the server has gone; nil while it is there.
  var lossReason: String? { get }
  /// Callbacks so far.
  var periodsRun: Int { get }
  var readings: Readings { get }
  /// Physical capture ports of the graph, in the server's order.
  var capturePorts: [String] { get }

  /// Makes an engine for `device` and registers the ports that it needs beside those in use. The first one of a client
  /// is activated, too.
  func prepare(_ filters: any DeviceFilters, for device: Device) -> Job<any PreparedEngine>
  /// From now on the callback runs `engine`; the one before, and the ports that only it had, go.
  func adopt(_ engine: any PreparedEngine)
  /// `engine` is not wanted: the ports registered for it go.
  func discard(_ engine: any PreparedEngine)
  /// Leaves the graph. Fails where libjack does not come back: then no other client must be opened in this process.
  func close() -> Job<Bool>
  /// What holds a close up, where that is known.
  var closingFault: String? { get }

  /// Crossfades to `setting`, of the device in use.
  /// - Parameter isRestoring: takes back what was asked for before, for which the queue keeps room.
  func change(to setting: Setting, isRestoring: Bool) throws -> Ticket
  /// Fades to silence with the filters of `setting`.
  func fadeOut(from setting: Setting) throws -> Ticket
  func beginTake(into ring: TakeRing) throws -> Ticket
  /// The queue keeps room for this.
  func endTake() -> Ticket
  func beginPlayback(of ring: PlaybackRing) throws -> Ticket
  /// The queue keeps room for this.
  func endPlayback()
  /// What the callback has reported since the last call, oldest first.
  func drainReports() -> [Realtime.Report]

  /// Compares ports and connections with what they should be, and mends them; the outcome comes through `takeNews`.
  /// - Returns: the number of the look that does so for `setting`.
  func look(_ setting: Setting) -> Int
  func takeNews() -> [GraphNews]
  /// Asks the server for another period; the answer is the one that it runs with then.
  func requestPeriod(_ frames: Int) -> Job<Int>
}

/// An engine with its ports, not yet in use.
package protocol PreparedEngine: AnyObject, Sendable {}

/// What a disk thread does.
package protocol DiskWork: AnyObject, Sendable {
  /// The disk has not brought or made its file yet.
  var isOpening: Bool { get }
}

/// A take on its way to disk; `TakeWriter` is the real one.
package protocol TakeRecording: DiskWork {
  var phase: TakeWriter.Phase { get }
  /// Of the outputs' file; nil while it is being opened.
  var path: String? { get }
  var frames: Int { get }
  var plan: TakePlan { get }
  var fault: String? { get }
  /// What of the take was removed while it ran, so that it is lost.
  var loss: String? { get }
  var secondsLeft: Int? { get }
  /// How long the disk has not answered; zero while nothing is asked of it.
  var unansweredFor: Duration { get }
  /// Something happened just now: an event of the sidecar.
  func note(_ what: String)
  /// A sentence for the sidecar's notes.
  func addNote(_ sentence: String)
  func abandon()
  func discard()
}

/// A take on its way from disk into the outputs; `TakePlayer` is the real one.
package protocol TakePlayback: DiskWork {
  var path: String { get }
  var phase: TakePlayer.Phase { get }
  var report: PlaybackReport { get }
  func abandon()
}

extension TakeRecording {
  package var isOpening: Bool { if case .opening = phase { true } else { false } }
}

extension TakePlayback {
  package var isOpening: Bool { if case .opening = phase { true } else { false } }
}

/// A snapshot of a client: its period, load, levels and complaints.
package struct Readings: Sendable {
  package var period = 0
  package var latencyFrames = 0
  package var dspLoad = 0.0
  package var xruns = 0
  package var lacksRealtime = false
  package var statistics = EngineStatistics()
  package var microphones: [String] = []
  /// Of the microphones in channel order, then left and right.
  package var levels: [Level] = []
  package var mutedMicrophones: [String] = []
  /// What cannot work, and does no other harm: sentences for people.
  package var complaints: [String] = []
  package var preRollSeconds = 0.0

  package init() {}
}

/// What a look at the graph found.
package struct GraphNews: Sendable {
  /// Its number, from 1.
  package var look = 0
  package var events: [Wiring.Event] = []
  /// What each of our ports is connected to; those that are connected to nothing are left out.
  package var connections: [String: Set<String>] = [:]
  package var lost: [Wiring.Wire] = []
  package var capturePorts: [String] = []
  /// Where the outputs go now, if that is elsewhere than before.
  package var newTarget: [String]?
  /// Ports that the outputs are to go to, and that are not there.
  package var missingTargets: [String] = []

  package init() {}
}
