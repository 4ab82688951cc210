import Acoustics
import Control
import Foundation
import Synchronization

/// How a program tells Pinna what it wants to capture, and learns what it got: categories and modes, inputs with
/// their data sources and polar patterns, the input orientation, the stereo layout.
///
/// What is preferred is what was asked for; what is selected, or in force, is what is so. Setters answer with what is
/// in force after them, and throw where nothing changed. Any thread may call everything. A change waits for the changes
/// before it, and for the running Pinna's answer (some 20 ms for a crossfade, seconds where filters are designed first);
/// what the session itself prefers is read without waiting, also meanwhile.
public final class AudioSession: Sendable {
  struct State {
    var category = Category.playback
    var mode = Mode.default
    var options: CategoryOptions = []
    var isActive = false
    /// The uid of an input.
    var preferredInput: String?
    var preferredOrientation: InputOrientation?
    /// Names of data sources, by the uid of their input.
    var preferredDataSources: [String: String] = [:]
    var preferredPolarPatterns: [SourceKey: PolarPattern] = [:]
    var outputOverride = PortOverride.none

    /// Where the sound is to go (S19).
    var output: OutputChoice {
      if outputOverride == .speaker { return .override }
      return switch category {
      case .playback: .speaker
      case .record: .none
      case .playAndRecord: options.contains(.defaultToSpeaker) ? .speaker : .none
      }
    }

    /// Whether the session wants the route for itself.
    var claims: Bool { isActive && category.captures && !options.contains(.mixWithOthers) }
  }

  /// What counts from the next activation on, and what is known of the engine: no change of `State` touches these.
  struct Circumstances {
    var preferredSampleRate = 0.0
    var preferredIOBufferDuration = 0.0
    /// Whether the engine serves this session, and not another.
    var hasEngine = false
    /// The running Pinna is another one than the one that was asked last, and knows nothing of this session.
    var isForgotten = false
  }

  struct SourceKey: Hashable {
    let input: String
    let dataSource: String
  }

  let engine: SocketEngine
  /// A Pinna in this process lives as long as its session.
  private let owner: any SessionEngine
  /// Never held while a Pinna is asked, so that nobody waits who only reads.
  let state = Mutex(State())
  let circumstances = Mutex(Circumstances())
  /// Of whoever asks the running Pinna for a change.
  let turn = Turn()
  let routeListeners = Broadcast<RouteChange>()
  let interruptionListeners = Broadcast<Interruption>()

  /// The session of this process with the running Pinna that `PINNA_NAME` names, "pinna" where it is not set.
  public static func sharedInstance() -> AudioSession { shared }
  private static let shared = AudioSession(
    SocketEngine(name: ProcessInfo.processInfo.environment["PINNA_NAME"] ?? "pinna"))

  /// - Parameter engine: of this session alone; a second session with it cannot be activated.
  public init(_ engine: some SessionEngine) {
    owner = engine
    self.engine = engine.socket
    let hasEngine = self.engine.adopt { [weak self] event in self?.hear(event) }
    circumstances.withLock { $0.hasEngine = hasEngine }
  }

  deinit {
    if circumstances.withLock({ $0.hasEngine }) { engine.close() }
  }

  /// Opens the session at the running Pinna, where that has not happened yet. In a turn.
  func open() throws(SessionError) {
    guard circumstances.withLock({ $0.hasEngine }) else {
      throw .failed("this engine has another session already; give each session an engine of its own")
    }
    try engine.open()
  }

  // MARK: Category and activation

  public var category: Category { state.withLock { $0.category } }
  public var mode: Mode { state.withLock { $0.mode } }
  public var categoryOptions: CategoryOptions { state.withLock { $0.options } }
  public var isActive: Bool { state.withLock { $0.isActive } }

  /// Says what the session is for (S1). An active session's route follows at once.
  /// - Parameter mode: nil leaves it as it is.
  /// - Throws: where options and category do not go together, or the route cannot follow.
  @discardableResult
  public func setCategory(_ category: Category, mode: Mode? = nil, options: CategoryOptions = [])
    throws(SessionError) -> ChangeOutcome
  {
    if options.contains(.defaultToSpeaker), category != .playAndRecord {
      throw .invalidValue(
        "the option defaultToSpeaker goes with the category playAndRecord, not with \(category.rawValue); leave it out"
      )
    }
    if options.contains(.allowBluetooth), !category.captures {
      throw .invalidValue(
        "the option allowBluetooth goes with record and playAndRecord, not with \(category.rawValue); leave it out"
      )
    }
    return try change { (state) throws(SessionError) in
      state.category = category
      state.options = options
      if let mode { state.mode = mode }
    }
  }

  /// Another mode; it chooses a data source where nobody has (S16).
  @discardableResult
  public func setMode(_ mode: Mode) throws(SessionError) -> ChangeOutcome {
    try change { (state) throws(SessionError) in state.mode = mode }
  }

  /// Activates the session, or lets go of the route. A session that does not mix with others claims the route; all
  /// that is preferred is asked for now, and may be read back after.
  /// - Throws: where no Pinna or no JACK server runs, or something preferred is not possible; then nothing changed,
  ///   and the session is as active as it was.
  @discardableResult
  public func setActive(_ active: Bool) throws(SessionError) -> ChangeOutcome {
    try change { (state) throws(SessionError) in state.isActive = active }
  }

  // MARK: Hardware values

  /// Hertz; 0 where none is preferred. The JACK server's rate rules: read `sampleRate` after activation (S15).
  public var preferredSampleRate: Double { circumstances.withLock { $0.preferredSampleRate } }

  /// Counts from the next activation on.
  public func setPreferredSampleRate(_ rate: Double) throws(SessionError) {
    guard rate == 0 || (8000...192_000).contains(rate) else {
      throw .invalidValue(
        "a sample rate of \(rate) Hz is not usable; give one from 8000 to 192000, or 0 for any")
    }
    circumstances.withLock { $0.preferredSampleRate = rate }
  }

  /// Seconds; 0 where none is preferred.
  public var preferredIOBufferDuration: Double { circumstances.withLock { $0.preferredIOBufferDuration } }

  /// Counts from the next activation on, where the session controls the route: the server is then asked for the power
  /// of two of frames that is nearest.
  public func setPreferredIOBufferDuration(_ seconds: Double) throws(SessionError) {
    guard seconds == 0 || (0.0001...1).contains(seconds) else {
      throw .invalidValue(
        "an I/O buffer duration of \(seconds) s is not usable; give one from 0.0001 to 1, or 0 for any")
    }
    circumstances.withLock { $0.preferredIOBufferDuration = seconds }
  }

  /// Of the JACK server, in hertz; 0 where no Pinna runs.
  public var sampleRate: Double { (try? engine.status()).map { Double($0.sampleRate) } ?? 0 }

  /// The JACK server's period in seconds; 0 where no Pinna runs.
  public var ioBufferDuration: Double {
    (try? engine.status()).map { Double($0.period) / Double($0.sampleRate) } ?? 0
  }

  /// 2 for stereo, 1 for mono patterns, 0 where the category does not capture or no Pinna runs: what buffers are
  /// sized by (S12).
  public var inputNumberOfChannels: Int {
    category.captures ? (try? engine.status())?.inputChannels ?? 0 : 0
  }
}
