import Acoustics
import FoundationEssentials
import Glibc
import Messages
import Settings
import Synchronization

/// A program's connection to Pinna. The program states what it wants to capture, and reads what it gets: category and
/// mode, inputs with their data sources and polar patterns, input orientation, stereo layout.
///
/// *Preferred* values are the program's requests. *Selected* values and values *in force* are Pinna's actual state.
/// Setters return the settings in force after the change. If a setter throws, nothing has changed.
///
/// All members may be called from any thread. A change waits for earlier changes and for the answer of the running
/// Pinna: about 20 ms for a crossfade, seconds if filters must be designed first. Reading the session's own preferences
/// never waits for a change.
public final class AudioSession: Sendable {
  /// What the program has requested.
  struct State {
    var category = Category.playback
    var mode = Mode.default
    var options: CategoryOptions = []
    var isActive = false
    /// The UID of an input.
    var preferredInput: String?
    var preferredOrientation: InputOrientation?
    /// Names of data sources, by the UID of their input.
    var preferredDataSources: [String: String] = [:]
    var preferredPolarPatterns: [SourceKey: PolarPattern] = [:]
    var outputOverride = PortOverride.none

    /// The requested output (S19).
    var output: OutputChoice {
      if outputOverride == .speaker { return .override }
      return switch category {
      case .playback: .speaker
      case .record: .none
      case .playAndRecord: options.contains(.defaultToSpeaker) ? .speaker : .none
      }
    }

    /// Whether the session claims exclusive control of the route.
    var claims: Bool { isActive && category.captures && !options.contains(.mixWithOthers) }
  }

  /// Values that are not part of a change: hardware preferences for the next activation, and the engine's relation to
  /// this session.
  struct Context {
    var preferredSampleRate = 0.0
    var preferredIOBufferDuration = 0.0
    /// Whether the engine belongs to this session, and not to another one.
    var hasEngine = false
    /// Whether Pinna was restarted since the last request and does not know this session's state.
    var isUnknownToEngine = false
  }

  struct SourceKey: Hashable {
    let input: String
    let dataSource: String
  }

  let engine: SocketEngine
  /// Keeps a `LocalEngine` alive as long as its session.
  private let owner: any SessionEngine
  /// Never locked during a request to Pinna, so that reading it never waits for one.
  let state = Mutex(State())
  let context = Mutex(Context())
  /// Serialises changes.
  let turn = Turn()
  let routeBroadcast = Broadcast<RouteChange>()
  let interruptionBroadcast = Broadcast<Interruption>()

  /// The shared session of this process. It uses the running Pinna whose name is in the environment variable
  /// `PINNA_NAME`, or else "pinna".
  public static func sharedInstance() -> AudioSession { shared }
  private static let shared = AudioSession(
    SocketEngine(name: ProcessInfo.processInfo.environment["PINNA_NAME"] ?? "pinna"))

  /// - Parameter engine: an engine for this session only. A second session with the same engine cannot be activated.
  public init(_ engine: some SessionEngine) {
    owner = engine
    self.engine = engine.socket
    let hasEngine = self.engine.adopt { [weak self] event in self?.receive(event) }
    context.withLock { $0.hasEngine = hasEngine }
  }

  deinit {
    if context.withLock({ $0.hasEngine }) { engine.close() }
  }

  /// Opens the session at the running Pinna, unless it is open already. Call it in `inTurn` only.
  func open() throws(SessionError) {
    guard context.withLock({ $0.hasEngine }) else {
      throw .failed("this engine has another session already; give each session an engine of its own")
    }
    try engine.open()
  }

  // MARK: Category and activation

  public var category: Category { state.withLock { $0.category } }
  public var mode: Mode { state.withLock { $0.mode } }
  public var categoryOptions: CategoryOptions { state.withLock { $0.options } }
  public var isActive: Bool { state.withLock { $0.isActive } }

  /// Sets the session's purpose (S1). The route of an active session changes at once.
  /// - Parameter mode: nil keeps the current mode.
  /// - Throws: `.invalidValue` if an option is not valid with the category, or why the route cannot change.
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

  /// Sets the mode, which selects a data source unless one is preferred (S16).
  /// - Throws: why the route cannot change.
  @discardableResult
  public func setMode(_ mode: Mode) throws(SessionError) -> ChangeOutcome {
    try change { (state) throws(SessionError) in state.mode = mode }
  }

  /// Activates the session, or deactivates it and releases the route.
  ///
  /// Activation requests all preferences. A session without `mixWithOthers` also claims control of the route.
  /// - Throws: `.notRunning` if no Pinna is running, `.noServer` if no JACK server is running, or why a preference is
  ///   not possible. The session is then as active as before.
  @discardableResult
  public func setActive(_ active: Bool) throws(SessionError) -> ChangeOutcome {
    try change { (state) throws(SessionError) in state.isActive = active }
  }

  // MARK: Hardware values

  /// In hertz; 0 for no preference. The JACK server determines the actual rate: read `sampleRate` after activation
  /// (S15).
  public var preferredSampleRate: Double { context.withLock { $0.preferredSampleRate } }

  /// Takes effect at the next activation.
  /// - Parameter rate: 8000…192 000 Hz, or 0 for no preference.
  /// - Throws: `.invalidValue` for any other rate.
  public func setPreferredSampleRate(_ rate: Double) throws(SessionError) {
    guard rate == 0 || (8000...192_000).contains(rate) else {
      throw .invalidValue(
        "a sample rate of \(rate) Hz is not usable; give one from 8000 to 192000, or 0 for any")
    }
    context.withLock { $0.preferredSampleRate = rate }
  }

  /// In seconds; 0 for no preference.
  public var preferredIOBufferDuration: Double { context.withLock { $0.preferredIOBufferDuration } }

  /// Takes effect at the next activation, if the session then controls the route. The JACK server is asked for the
  /// period whose length is the nearest power of two in frames.
  /// - Parameter seconds: 0.0001…1 s, or 0 for no preference.
  /// - Throws: `.invalidValue` for any other duration.
  public func setPreferredIOBufferDuration(_ seconds: Double) throws(SessionError) {
    guard seconds == 0 || (0.0001...1).contains(seconds) else {
      throw .invalidValue(
        "an I/O buffer duration of \(seconds) s is not usable; give one from 0.0001 to 1, or 0 for any")
    }
    context.withLock { $0.preferredIOBufferDuration = seconds }
  }

  /// The JACK server's sample rate in hertz; 0 if no Pinna is running or it is not in a graph.
  public var sampleRate: Double { (try? engine.status()).map { Double($0.sampleRate) } ?? 0 }

  /// The JACK server's period in seconds; 0 if no Pinna is running or it is not in a graph.
  public var ioBufferDuration: Double {
    guard let status = try? engine.status(), status.sampleRate > 0 else { return 0 }
    return Double(status.period) / Double(status.sampleRate)
  }

  /// Number of channels for capture buffers: 2 for stereo, 1 for mono patterns, 0 if the category does not capture or
  /// no Pinna is running (S12).
  public var inputNumberOfChannels: Int {
    category.captures ? (try? engine.status())?.inputChannels ?? 0 : 0
  }
}
