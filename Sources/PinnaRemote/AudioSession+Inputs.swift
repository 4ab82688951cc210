import Acoustics
import Messages

extension AudioSession {
  /// The inputs that the session's category allows: empty with `playback`, nil if no Pinna is running (S1, S2).
  public var availableInputs: [PortDescription]? {
    let state = state.withLock { $0 }
    return (try? available(state))?.map { PortDescription($0.portType, $0.name, $0.uid, of: self) }
  }

  /// The input of the last `setPreferredInput`; nil if none is preferred, or if it is not available.
  public var preferredInput: PortDescription? {
    guard let uid = state.withLock({ $0.preferredInput }) else { return nil }
    return report(of: uid).map { PortDescription($0.portType, $0.name, $0.uid, of: self) }
  }

  /// Requests an input. If it is already in the route, nothing changes (S3).
  /// - Parameter input: nil for no preference; the route keeps its input.
  /// - Throws: `.category` if the category does not capture, `.unknownInput` with the available ones, or why Pinna
  ///   refused.
  @discardableResult
  public func setPreferredInput(_ input: PortDescription?) throws(SessionError) -> ChangeOutcome {
    try SessionError.capturing(category)
    return try change { (state) throws(SessionError) in
      if let input {
        let available = try available(state)
        guard available.contains(where: { $0.uid == input.uid }) else {
          throw .unknownInput(input.uid, available: available.map(\.uid))
        }
      }
      state.preferredInput = input?.uid
    }
  }

  /// The inputs and outputs in use.
  public var currentRoute: RouteDescription {
    let category = category
    let inputs = category.captures ? (try? engine.inputs())?.filter(\.active) ?? [] : []
    let output = (try? engine.status())?.output
    let outputs = output.flatMap { output in
      output.portType.map {
        [PortDescription($0, $0.title, output.ports.joined(separator: ","), of: self)]
      }
    }
    return RouteDescription(
      inputs: inputs.map { PortDescription($0.portType, $0.name, $0.uid, of: self) },
      outputs: category.plays ? outputs ?? [] : [])
  }

  // MARK: Output

  /// Sends the output to the monitor ports regardless of the options and of connected headsets (S19).
  /// - Parameter port: `.none` ends the override.
  /// - Throws: `.category` unless the category is `playAndRecord`, or why Pinna refused.
  @discardableResult
  public func overrideOutputAudioPort(_ port: PortOverride) throws(SessionError) -> ChangeOutcome {
    let category = category
    guard category == .playAndRecord else { throw .category(category, needed: [.playAndRecord]) }
    return try change { (state) throws(SessionError) in state.outputOverride = port }
  }

  // MARK: Input orientation

  /// The orientation of the last `setPreferredInputOrientation`; nil if none is preferred.
  public var preferredInputOrientation: InputOrientation? { state.withLock { $0.preferredOrientation } }

  /// The orientation in force. It may differ from the preferred one if another session controls the route (S11).
  /// Portrait if no Pinna is running.
  public var inputOrientation: InputOrientation {
    (try? engine.status())?.selection.inputOrientation ?? .portrait
  }

  /// Requests an input orientation: how the device is held. It affects stereo only (S10).
  /// - Parameter orientation: nil for no preference.
  /// - Throws: why Pinna refused.
  @discardableResult
  public func setPreferredInputOrientation(_ orientation: InputOrientation?) throws(SessionError)
    -> ChangeOutcome
  {
    try change { (state) throws(SessionError) in state.preferredOrientation = orientation }
  }

  /// Which edges of the device are left and right now; nil for mono patterns, or if no Pinna is running.
  public var stereoLayout: StereoLayout? { (try? engine.status())?.layout }

  func report(of uid: String) -> InputsReport.Input? { (try? engine.inputs())?.first { $0.uid == uid } }

  func report(of dataSource: String, input uid: String) -> InputsReport.DataSourceReport? {
    report(of: uid)?.dataSources?.first { $0.name == dataSource }
  }
}

/// The inputs and outputs in use.
public struct RouteDescription: Sendable, Hashable {
  public let inputs: [PortDescription]
  public let outputs: [PortDescription]
}
