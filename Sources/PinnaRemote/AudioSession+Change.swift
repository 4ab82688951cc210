import Acoustics
import Glibc
import Messages
import Settings

/// The settings in force after a change (S14).
public struct ChangeOutcome: Hashable, Sendable {
  /// Where left and right are; nil for mono patterns, or if no Pinna is running.
  public let layout: StereoLayout?
  /// 2 for stereo, 1 for mono patterns, 0 if no Pinna is running.
  public let inputNumberOfChannels: Int
  /// The input orientation in force; nil if no Pinna is running.
  public let inputOrientation: InputOrientation?
  /// Why the request is deferred; nil if it is in force.
  public let kept: String?
}

extension AudioSession {
  /// Performs a change of the session's state.
  ///
  /// The whole state after `edit` is requested from the running Pinna. It becomes the session's state only if that
  /// succeeds. Changes run one at a time, in the order of their calls.
  @discardableResult
  func change(_ edit: (inout State) throws(SessionError) -> Void) throws(SessionError) -> ChangeOutcome {
    try inTurn { () throws(SessionError) in
      let current = state.withLock { $0 }
      var next = current
      try edit(&next)
      let outcome = try realise(next, from: current)
      state.withLock { $0 = next }
      return outcome
    }
  }

  /// How long a change waits for earlier ones, in seconds.
  private static let turnTimeout = 60.0

  /// Runs `body` when all earlier changes have ended.
  func inTurn<Result>(_ body: () throws(SessionError) -> Result) throws(SessionError) -> Result {
    guard turn.enter(seconds: Self.turnTimeout) else {
      throw .failed(
        "an earlier change of this session has not ended within \(Int(Self.turnTimeout)) s; try again")
    }
    defer { turn.leave() }
    return try body()
  }

  /// Requests the whole state again after Pinna was restarted, because the new process does not know the session. An
  /// earlier change in the queue may do it instead.
  func reactivate() {
    context.withLock { $0.isUnknownToEngine = true }
    try? inTurn { () throws(SessionError) in
      let current = state.withLock { $0 }
      guard current.isActive, context.withLock({ $0.isUnknownToEngine }) else { return }
      _ = try realise(current, from: current)
    }
  }

  /// Brings the running Pinna from `current` to `next`, and asks for nothing if both are inactive.
  private func realise(_ next: State, from current: State) throws(SessionError) -> ChangeOutcome {
    var old = current
    if context.withLock({ $0.isUnknownToEngine }) { old.isActive = false }
    guard next.isActive || old.isActive else { return outcome(kept: "the session is not active") }
    try open()
    let status = try engine.status()
    if next.isActive, status.server == .gone || status.server == .unusable {
      throw .noServer("the JACK server has gone; start it again, and Pinna continues")
    }
    do throws(SessionError) {
      guard next.isActive else {
        if status.take == nil {
          _ = try? engine.sessionRequest("/pinna/session/set", ["output", "standard"])
        }
        if old.claims { try claim(false) }
        return outcome(kept: nil)
      }
      if let take = status.take { throw Self.recording(take.path) }
      if next.claims != old.claims { try claim(next.claims) }
      let settings = try settings(of: next) + ["output", next.output.rawValue]
      let answer = try engine.sessionRequest("/pinna/session/set", settings)
      let kept = try answer.decoded(ChangeReport.self).kept
      let period = context.withLock { $0.preferredIOBufferDuration }
      if !old.isActive, kept == nil, period > 0 {
        // A preference: the route has changed already, and the period may be another (S15).
        _ = try? engine.sessionRequest("/pinna/session/period", ["\(period)"])
      }
      context.withLock { $0.isUnknownToEngine = false }
      return outcome(kept: kept)
    } catch {
      if next.claims != old.claims { try? claim(old.claims) }
      throw error
    }
  }

  /// Claims exclusive control of the route, or releases it.
  private func claim(_ on: Bool) throws(SessionError) {
    try engine.sessionRequest("/pinna/session/claim", [on ? "on" : "off"])
  }

  static func recording(_ path: String) -> SessionError {
    .refused("recording \(path): nothing may change until it ends; \(Failure.stopHint)")
  }

  private func outcome(kept: String?) -> ChangeOutcome {
    let status = try? engine.status()
    return ChangeOutcome(
      layout: status?.layout, inputNumberOfChannels: status?.inputChannels ?? 0,
      inputOrientation: status?.selection.inputOrientation, kept: kept)
  }

  /// All preferences of `state`, as alternating keys and values of /pinna/session/set.
  private func settings(of state: State) throws(SessionError) -> [String] {
    let inputs = try available(state)
    let chosen: InputsReport.Input?
    if let uid = state.preferredInput {
      chosen = inputs.first { $0.uid == uid }
      guard chosen != nil else { throw .unknownInput(uid, available: inputs.map(\.uid)) }
    } else {
      chosen = inputs.first(where: \.active)
    }
    guard state.category.captures, let input = chosen else { return [] }
    var settings = ["input", input.uid]
    if let sources = input.dataSources, let choice = choice(among: sources, of: input.uid, state) {
      settings += ["data-source", choice.source.name, "pattern", choice.pattern.rawValue]
    }
    if let orientation = state.preferredOrientation { settings += ["orientation", orientation.rawValue] }
    return settings
  }

  /// The preferred data source, or else the one that the mode selects (S16), with its preferred polar pattern, or else
  /// the mode's. The mode's pattern is used only with the mode's data source.
  private func choice(
    among sources: [InputsReport.DataSourceReport], of input: String, _ state: State
  ) -> (source: InputsReport.DataSourceReport, pattern: PolarPattern)? {
    let byMode = state.mode.choice(among: sources)
    let preferredSource = state.preferredDataSources[input].flatMap { name in
      sources.first { $0.name == name }
    }
    guard let source = preferredSource ?? byMode else { return nil }
    let offered = source.supportedPolarPatterns
    let preferredPattern = state.preferredPolarPatterns[SourceKey(input: input, dataSource: source.name)]
    let fallback = offered.contains(.omnidirectional) ? .omnidirectional : offered.first
    guard
      let pattern = preferredPattern ?? (preferredSource == nil ? state.mode.pattern(among: offered) : nil)
        ?? fallback
    else {
      return nil
    }
    return (source, pattern)
  }

  /// The inputs that the category and the options allow.
  func available(_ state: State) throws(SessionError) -> [InputsReport.Input] {
    guard state.category.captures else { return [] }
    return try engine.inputs().filter {
      $0.portType != .bluetoothHFP || state.options.contains(.allowBluetooth)
    }
  }
}

extension AudioSession.Mode {
  /// The data source that the mode selects.
  func choice(among sources: [InputsReport.DataSourceReport]) -> InputsReport.DataSourceReport? {
    switch self {
    case .default, .voiceChat, .measurement:
      sources.first { $0.orientation == .bottom } ?? sources.first { $0.location == .lower } ?? sources.first
    case .videoRecording:
      sources.first { $0.orientation == .back } ?? sources.first { $0.orientation == .top }
        ?? sources.first { $0.location == .upper } ?? sources.first
    }
  }

  /// The polar pattern that the mode selects; nil for the default pattern.
  func pattern(among offered: [PolarPattern]) -> PolarPattern? {
    guard self == .videoRecording else { return nil }
    return [.cardioid, .subcardioid, .supercardioid, .hypercardioid].first(where: offered.contains)
  }
}
