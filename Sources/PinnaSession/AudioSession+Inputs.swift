import Acoustics
import Control

extension AudioSession {
  /// Inputs that can be chosen with the session's category: none with `playback`, nil where no Pinna runs (S1, S2).
  public var availableInputs: [PortDescription]? {
    let state = state.withLock { $0 }
    return (try? available(state))?.map { PortDescription($0.portType, $0.name, $0.uid, of: self) }
  }

  /// The input that was asked for; nil before.
  public var preferredInput: PortDescription? {
    guard let uid = state.withLock({ $0.preferredInput }) else { return nil }
    return report(of: uid).map { PortDescription($0.portType, $0.name, $0.uid, of: self) }
  }

  /// Asks for an input. Where it is in the route already nothing changes (S3).
  /// - Parameter input: nil asks for none in particular; what is in the route stays.
  @discardableResult
  public func setPreferredInput(_ input: PortDescription?) throws(SessionError) -> ChangeOutcome {
    let category = category
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

  /// The input and the outputs in use.
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

  /// Sends the sound to the monitor ports whatever the options say and whatever is worn, or no longer (S19).
  @discardableResult
  public func overrideOutputAudioPort(_ port: PortOverride) throws(SessionError) -> ChangeOutcome {
    let category = category
    guard category == .playAndRecord else { throw .category(category, needed: [.playAndRecord]) }
    return try change { (state) throws(SessionError) in state.outputOverride = port }
  }

  // MARK: Input orientation

  /// The orientation that was asked for; nil before.
  public var preferredInputOrientation: InputOrientation? { state.withLock { $0.preferredOrientation } }

  /// The orientation in force, which may be another one where another session controls the route (S11). Portrait
  /// where no Pinna runs.
  public var inputOrientation: InputOrientation { (try? engine.status())?.inputOrientation ?? .portrait }

  /// Asks for an orientation: how the device is held. It matters to stereo alone (S10).
  @discardableResult
  public func setPreferredInputOrientation(_ orientation: InputOrientation?) throws(SessionError)
    -> ChangeOutcome
  {
    try change { (state) throws(SessionError) in state.preferredOrientation = orientation }
  }

  /// Where left and right are now; nil for mono patterns, and where no Pinna runs.
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
