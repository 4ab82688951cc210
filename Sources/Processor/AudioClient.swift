import Acoustics
import FilterDesign
import JackClient
import Messages
import Realtime
import Recording
import Rendering
import Settings

/// The processor's environment: clock, JACK server and disk. `JackWorld` implements it; tests use a fake.
///
/// Thread: control thread, for every function. No call blocks.
package protocol AudioWorld: AnyObject {
  var now: ContinuousClock.Instant { get }
  /// Reads the setting of a preset from its current file.
  func setting(ofPreset name: String) -> Job<Setting>
  /// The names of presets, devices, or at most `most` takes, the newest first.
  func names(of list: NameList, most: Int) -> Job<[String]>
  /// Reads what MIDI does.
  /// - Parameter bank: the bank of program changes; nil for that of the file.
  func midiSetup(bank: String?) -> Job<MIDISetup>
  /// The path of a file in the standard takes folder. Fails if there is none of that name.
  func path(ofTake name: String) -> Job<String>
  /// Opens a client in the server's graph. Fails with `noServer` if no server is running.
  func openClient() -> Job<any AudioClient>
  /// Asks whether the server runs periods for a new client; nil for a server that drives all clients together.
  func probePeriods() -> Job<Bool>?
  /// Forgets the connections of own ports that do not exist now.
  /// - Returns: how many.
  func forgetConnections() -> Int
  /// The connections of own ports that another run should restore.
  var restorableConnections: [Wiring.Wire] { get }
  /// Restores `connections`, and removes and forgets what others connected to own ports, as far as it is not among
  /// them.
  func replaceConnections(with connections: [Wiring.Wire])
  /// The name of the clients that are opened from now on.
  func rename(to name: String)
  /// The folder for takes that name none, without symbolic links; nil for the standard one.
  var takesFolder: String? { get set }
  /// Reads the filter sets of every case of `device` from the cache, or designs them.
  func design(_ device: Device, sampleRate: Int) -> Job<FilterSets>
  /// The same at the lowest priority, for a look that nobody waits for.
  func designNearby(_ device: Device, sampleRate: Int) -> Job<FilterSets>
  /// Reads or designs the filter sets of every case of `device` that do without some of its microphones.
  func fallback(for device: Device, without missing: Set<String>, sampleRate: Int) -> Job<FilterSets>
  /// Sees that the filter sets without one microphone are stored: designs them at the lowest priority if they are not.
  func prepareFallback(for device: Device, without microphone: String, sampleRate: Int) -> Job<Void>
  func openPlayback(_ path: String, sampleRate: Int) -> any TakePlayback
  /// Keeps the machine from sleeping until the result is released.
  func keepAwake() -> any SleepInhibitor
}

/// What keeps the machine from sleeping. `LogindInhibitor` implements it; tests use a fake.
///
/// Thread: control thread. No call blocks.
package protocol SleepInhibitor: AnyObject {
  /// Why the machine may sleep all the same, as a clause; nil while nothing says so.
  var fault: String? { get }
  func release()
}

extension FilterSets {
  package var sampleRate: Int { bank.sampleRate }

  /// - Throws: why there are no filters for `selection`.
  func check(_ selection: Selection, of device: Device) throws {
    _ = try filters(for: selection, of: device)
  }
}

/// A client in a JACK graph, and the engine in its callback. `JackAudioClient` implements it; tests use a fake.
///
/// Thread: control thread, for every function. A job that was abandoned also calls `discard` and `close`, on its own
/// thread (`Job.abandon`). No call blocks: requests to the JACK server are jobs.
package protocol AudioClient: AnyObject, Sendable {
  var sampleRate: Int { get }
  /// Why it is in no graph any more; nil while it is.
  var loss: ClientLoss? { get }
  /// Whether the engine in use is silent for good, because the server has left its sample rate.
  var isRetired: Bool { get }
  /// Number of callbacks so far.
  var periodsRun: Int { get }
  /// How often the server went over to freewheel, or back; it begins outside it.
  var freewheelChanges: Int { get }
  var readings: Readings { get }
  /// Of the outputs over 300 ms, or `OutputTap.capacity` frames if that is less, from −1 to 1; nil while one is silent.
  var correlation: Float? { get }
  /// The newest frames of both outputs, interleaved, and the number of frames that were played before their end.
  func newestOutputs(_ frames: Int) -> (end: Int, samples: [Float])
  /// What the operator should know about the connections that were made at the start; nil for nothing.
  var remark: String? { get }
  /// Physical capture ports of the graph, in the server's order.
  var capturePorts: [String] { get }

  /// Creates an engine for `device` and registers the ports that the current engine lacks. The first engine also
  /// activates the client.
  func prepare(_ filters: FilterSets, for device: Device) -> Job<any PreparedEngine>
  /// Opens a take of what this client plays.
  /// - Parameters:
  ///   - folder: nil for the standard folder.
  ///   - setting: the setting with which the take begins.
  ///   - feeds: names of those to record, `main` among them.
  func openTake(
    in folder: String?, _ options: TakeOptions, _ setting: Setting, feeds: [String]
  ) -> any TakeRecording
  /// Whether the server would refuse a client with this name.
  func isTaken(_ name: String) -> Job<Bool>
  /// Leaves the graph. Fails if libjack hangs; then no other client may be opened in this process.
  func close() -> Job<Bool>

  /// Posts a crossfade of a feed, `main` or one that was added, with the same outputs.
  /// - Parameters:
  ///   - name: of the feed.
  ///   - setting: what it plays then stands there. It must be of the engine's device.
  ///   - isRestoring: uses the slot that the queue reserves for restoring the previous setting.
  func change(_ name: String, to setting: Setting, isRestoring: Bool) throws -> Ticket
  /// Takes the filters of every setting from `choice` from now on, and those of the engine.
  func use(_ choice: FilterChoice)
  /// Posts crossfades of feeds, `main` among them, to the filters of `setting` that are chosen by now. It is allowed during
  /// a take.
  /// - Returns: the tickets by the feeds' names; none for a feed that plays those filters, or has none.
  /// - Throws: if `main` is among them and cannot be changed. Then nothing is posted.
  func substitute(_ feeds: [String], in setting: Setting) throws -> [String: Ticket]
  /// Looks for talkers, or ceases to, unless something else needs them: `readings` tells who is heard.
  /// - Parameter lacksMicrophone: whether a microphone is missing: directions need all, so nobody is found.
  func findTalkers(_ isWanted: Bool, lacksMicrophone: Bool)
  /// Lists who speaks where, as far as talkers are looked for.
  /// - Parameter frame: of the engine, from which on, also a past one; nil for no more.
  func listTalkers(from frame: Int?)
  /// Who has begun, moved or ceased since the last call, in frames of the engine and the device frame.
  func takeTalkers() -> [TalkerChange]
  /// Posts a fade of all feeds to silence with the filters of `setting`. The ticket is main's.
  func fadeOut(from setting: Setting) throws -> Ticket
  /// Registers the ports of a feed, and fades it in. The result is the ticket of that change.
  func add(_ feed: FeedSetting) -> Job<Ticket>
  /// Fades a feed out, and unregisters its ports.
  func remove(_ feed: FeedSetting) -> Job<Bool>
  /// - Parameter followingTransport: begins when JACK's transport rolls, and ends when it does not.
  func beginTake(into ring: TakeRing, followingTransport: Bool) throws -> Ticket
  /// Cannot fail: the queue reserves a slot for it.
  func endTake() -> Ticket
  func beginPlayback(of ring: PlaybackRing) throws -> Ticket
  /// Cannot fail: the queue reserves a slot for it.
  func endPlayback()
  /// The callback's reports since the last call, oldest first.
  func drainReports() -> [Realtime.Report]
  /// MIDI messages that arrived since the last call, oldest first.
  func drainMIDI() -> [MIDIMessage]

  /// Starts a graph check: compares ports and connections with those that `setting` requires, and repairs them.
  /// `drainGraphReports` delivers the result.
  /// - Returns: the number of the check that applies `setting`.
  func checkGraph(for setting: Setting) -> Int
  /// The results of graph checks since the last call, oldest first.
  func drainGraphReports() -> [GraphReport]
  /// Requests another period, in frames. The result is the period that the server then uses.
  func requestPeriod(_ frames: Int) -> Job<Int>
}

/// An engine with registered ports, not yet in use.
package protocol PreparedEngine: AnyObject, Sendable {
  /// Makes the callback run this engine. The previous engine is freed, and the ports that only it used are
  /// unregistered.
  func adopt()
  /// Unregisters the ports that were registered for this engine, which will not be adopted.
  func discard()
}

/// A take or a playback, as the control thread sees it. A disk thread writes or reads its file.
///
/// Thread: control thread, for every function of this protocol and those derived from it.
package protocol DiskWork: AnyObject, Sendable {
  /// Whether the disk thread is still opening the file.
  var isOpening: Bool { get }
}

/// A take that is being written to disk. `TakeWriter` implements it; tests use a fake.
package protocol TakeRecording: DiskWork {
  var phase: TakeWriter.Phase { get }
  /// Path of the outputs' file; nil while it is being opened.
  var path: String? { get }
  /// Frames written so far.
  var frames: Int { get }
  var plan: TakePlan { get }
  /// Why nothing more can be written; nil while writing works.
  var fault: String? { get }
  /// Which file of the take was removed during the take; nil while all exist.
  var loss: String? { get }
  /// Whether all of a take that ends by itself is recorded.
  var isOver: Bool { get }
  /// Recording time that fits on the disk, in seconds; nil before it is known.
  var secondsLeft: Int? { get }
  /// How long the disk thread has been waiting for the disk; zero while it is not waiting.
  var unansweredFor: Duration { get }
  /// Adds an event to the sidecar, with the current time.
  func note(_ what: String)
  /// Frames of pre-roll before the first frame that the callback wrote.
  var preRollFrames: Int { get }
  /// Lists in the sidecar that from `frame` of the take on, pre-roll included, a feed's filters do without `missing`.
  /// - Parameter feed: its name.
  func addFallback(frame: Int, without missing: [String], feed: String)
  /// Lists in the sidecar what a feed plays that follows a pose or a talker.
  func addTurn(_ turn: Sidecar.Turn)
  /// Lists in the sidecar who speaks where from now on.
  func add(_ talker: Sidecar.Talker)
  /// Number of markers so far.
  var markers: Int { get }
  /// Marks the present place, in the sidecar and as a cue of the WAV files.
  func mark(_ label: String) -> Sidecar.Marker
  /// The title in the sidecar; empty for none.
  var title: String { get set }
  /// Adds a sentence to the sidecar's notes.
  func addNote(_ sentence: String)
  /// Ends the take without the callback: writes the frames in the ring, and skips the conversion.
  func abandon()
  /// Ends a take that never began, and removes its files.
  func discard()
}

/// A take that is being played from disk. `TakePlayer` implements it; tests use a fake.
package protocol TakePlayback: DiskWork {
  var path: String { get }
  var phase: TakePlayer.Phase { get }
  var report: PlaybackReport { get }
  /// What the outputs could not play, as one sentence; nil if they played all of the take.
  var fault: String? { get }
  func abandon()
}

extension TakeRecording {
  package var isOpening: Bool { if case .opening = phase { true } else { false } }
}

extension TakePlayback {
  package var isOpening: Bool { if case .opening = phase { true } else { false } }
}

/// A snapshot of a client: its period, load, levels and known problems.
package struct Readings: Sendable {
  /// In frames.
  package var period = 0
  package var latencyFrames = 0
  /// Percent of the period that the graph uses.
  package var dspLoad = 0.0
  package var xruns = 0
  package var lacksRealtime = false
  package var statistics = EngineStatistics()
  package var microphones: [String] = []
  /// Levels of the microphones in channel order, then of the left and right output.
  package var levels: [Level] = []
  /// Levels of the outputs of the other feeds, by the feed's name.
  package var feedLevels: [String: [Level]] = [:]
  package var mutedMicrophones: [String] = []
  /// What becomes of stereo that follows the sound; nil if nothing was asked for.
  package var adaptation: String?
  /// What it takes to follow the sound, in percent of a core; nil if nothing does.
  package var adaptationLoad: Double?
  /// The wind that there is and what is taken out; nil if nothing was asked for.
  package var wind: String?
  /// Whether there is wind, as far as anybody listens for it.
  package var hasWind = false
  /// Who has been heard in the last seconds, in the device frame; nil while nobody looks for talkers.
  package var talkers: [TrackedTalker]?
  /// Why nobody does although it was asked for; nil if somebody does, or it was not.
  package var talkersText: String?
  /// Sentences about limited functions that do not affect the sound, such as missing port labels.
  package var problems: [String] = []
  package var preRollSeconds = 0.0

  package init() {}
}

/// The result of a graph check.
package struct GraphReport: Sendable {
  /// Number of the check, from 1; 0 before the first.
  package var checkNumber = 0
  package var events: [Wiring.Event] = []
  /// The peers of each own port, by its short name; unconnected ports are absent.
  package var connections: [String: Set<String>] = [:]
  /// Connections whose peers have gone; they are made again when the peers return.
  package var lost: [Wiring.Wire] = []
  /// Physical capture ports, in the server's order.
  package var capturePorts: [String] = []
  /// The ports that the outputs are now connected to, if the target has changed.
  package var newTarget: [String]?
  /// Ports that the outputs should be connected to and that do not exist.
  package var missingTargets: [String] = []
  /// Connections of the preset that are not made, because the peer does not exist.
  package var missingConnections: [Wiring.Wire] = []
  /// Connections that the server refuses to make.
  package var refusedConnections: [Wiring.Wire] = []

  package init() {}
}
