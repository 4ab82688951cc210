import Acoustics
import Control
import Foundation

/// What is in force after a change (S14).
public struct ChangeOutcome: Hashable, Sendable {
  /// Where left and right are; nil for mono patterns, and where no Pinna runs.
  public let layout: StereoLayout?
  public let inputNumberOfChannels: Int
  /// In force; nil where no Pinna runs.
  public let inputOrientation: InputOrientation?
  /// Why what was asked for is kept for later; nil where it is in force.
  public let kept: String?
}

extension AudioSession {
  /// Every change: what the session would be after `edit` is asked of the running Pinna as a whole, and becomes the
  /// session's state where that succeeds. One change at a time, in their order.
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

  /// How long a change waits for those before it.
  private static let patience = 60.0

  func inTurn<Result>(_ body: () throws(SessionError) -> Result) throws(SessionError) -> Result {
    guard turn.enter(seconds: Self.patience) else {
      throw .failed(
        "an earlier change of this session has not ended within \(Int(Self.patience)) s; try again")
    }
    defer { turn.leave() }
    return try body()
  }

  /// After a Pinna that ended is back, as another process: everything is asked for again, here or by a change that has
  /// its turn before.
  func reactivate() {
    circumstances.withLock { $0.isForgotten = true }
    try? inTurn { () throws(SessionError) in
      let current = state.withLock { $0 }
      guard current.isActive, circumstances.withLock({ $0.isForgotten }) else { return }
      _ = try realise(current, from: current)
    }
  }

  private func realise(_ next: State, from known: State) throws(SessionError) -> ChangeOutcome {
    var old = known
    if circumstances.withLock({ $0.isForgotten }) { old.isActive = false }
    guard next.isActive || old.isActive else { return outcome(kept: "the session is not active") }
    try open()
    let status = try engine.status()
    if next.isActive, status.server == .gone || status.server == .unusable {
      throw .noServer("the JACK server has gone; start it again, and Pinna goes on")
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
      let wish = try wish(of: next) + ["output", next.output.rawValue]
      let answer = try engine.sessionRequest("/pinna/session/set", wish)
      let kept = try SocketEngine.document(ChangeReport.self, of: answer).kept
      let period = circumstances.withLock { $0.preferredIOBufferDuration }
      if !old.isActive, kept == nil, period > 0 {
        try engine.sessionRequest("/pinna/session/period", ["\(period)"])
      }
      circumstances.withLock { $0.isForgotten = false }
      return outcome(kept: kept)
    } catch {
      if next.claims != old.claims { try? claim(old.claims) }
      throw error
    }
  }

  private func claim(_ on: Bool) throws(SessionError) {
    try engine.sessionRequest("/pinna/session/claim", [on ? "on" : "off"])
  }

  static func recording(_ path: String) -> SessionError {
    .refused("recording \(path): nothing may change until it ends; stop it first")
  }

  private func outcome(kept: String?) -> ChangeOutcome {
    let status = try? engine.status()
    return ChangeOutcome(
      layout: status?.layout, inputNumberOfChannels: status?.inputChannels ?? 0,
      inputOrientation: status?.inputOrientation, kept: kept)
  }

  /// The whole of what `state` prefers, as pairs of setting and value.
  private func wish(of state: State) throws(SessionError) -> [String] {
    let inputs = try available(state)
    let chosen: InputsReport.Input?
    if let uid = state.preferredInput {
      chosen = inputs.first { $0.uid == uid }
      guard chosen != nil else { throw .unknownInput(uid, available: inputs.map(\.uid)) }
    } else {
      chosen = inputs.first(where: \.active)
    }
    guard state.category.captures, let input = chosen else { return [] }
    var wish = ["input", input.uid]
    if let sources = input.dataSources, let choice = choice(among: sources, of: input.uid, state) {
      wish += ["data-source", choice.source.name, "pattern", choice.pattern.rawValue]
    }
    if let orientation = state.preferredOrientation { wish += ["orientation", orientation.rawValue] }
    return wish
  }

  /// The data source preferred by hand, or the mode's (S16); the polar pattern preferred for it, or the mode's.
  private func choice(
    among sources: [InputsReport.DataSourceReport], of input: String, _ state: State
  ) -> (source: InputsReport.DataSourceReport, pattern: PolarPattern)? {
    let byMode = state.mode.choice(among: sources)
    let byHand = state.preferredDataSources[input].flatMap { name in sources.first { $0.name == name } }
    guard let source = byHand ?? byMode else { return nil }
    let offered = source.supportedPolarPatterns
    let preferred = state.preferredPolarPatterns[SourceKey(input: input, dataSource: source.name)]
    let plain = offered.contains(.omnidirectional) ? .omnidirectional : offered.first
    guard let pattern = preferred ?? (byHand == nil ? state.mode.pattern(among: offered) : nil) ?? plain
    else {
      return nil
    }
    return (source, pattern)
  }

  /// The inputs that the category and the options let in.
  func available(_ state: State) throws(SessionError) -> [InputsReport.Input] {
    guard state.category.captures else { return [] }
    return try engine.inputs().filter {
      $0.portType != .bluetoothHFP || state.options.contains(.allowBluetooth)
    }
  }
}

extension AudioSession.Mode {
  /// The data source that the mode chooses.
  func choice(among sources: [InputsReport.DataSourceReport]) -> InputsReport.DataSourceReport? {
    switch self {
    case .default, .voiceChat, .measurement:
      sources.first { $0.orientation == .bottom } ?? sources.first { $0.location == .lower } ?? sources.first
    case .videoRecording:
      sources.first { $0.orientation == .back } ?? sources.first { $0.orientation == .top }
        ?? sources.first { $0.location == .upper } ?? sources.first
    }
  }

  /// The polar pattern that goes with it; nil for the plain one.
  func pattern(among offered: [PolarPattern]) -> PolarPattern? {
    guard self == .videoRecording else { return nil }
    return [.cardioid, .subcardioid, .supercardioid, .hypercardioid].first(where: offered.contains)
  }
}
