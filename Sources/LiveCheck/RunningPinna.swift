import Acoustics
import Glibc
import JackClient
import JackTools
import Messages
import Settings

/// The running Pinna that a check uses, with the settings to restore afterwards.
package struct RunningPinna {
  private let name: String
  private let statusBefore: StatusReport

  /// - Parameter name: client name of the running Pinna.
  /// - Throws: `Failure` if there is none, if it is recording or playing, or if a session controls the route.
  package init(name: String) throws(Failure) {
    self.name = name
    statusBefore = try ControlClient(name: name).request(OSCMessage("/pinna/status")).document()
    guard ![.armed, .recording].contains(statusBefore.state) else {
      throw Failure(
        .refused, "\(name) is recording, and a check changes its settings; stop it with: pinna record stop")
    }
    guard statusBefore.state != .playing else {
      throw Failure(
        .refused, "\(name) is playing, and a check listens to its outputs; stop it with: pinna play --stop"
      )
    }
    if let controller = statusBefore.controller {
      throw Failure(
        .refused,
        "the session \(controller) controls the route, which a check changes; end that program first")
    }
  }

  package var device: String { statusBefore.device }
  package var sampleRate: Int { statusBefore.sampleRate }

  /// Throws if the filters undo another calibration than that of `device`, with which the sound of a check deviates.
  package func checkCalibration(of device: Device) throws(Failure) {
    guard statusBefore.calibrated == device.calibration?.date else {
      throw Failure(
        .failed,
        "\(device.name) was calibrated, or its calibration removed, after \(name) started; start \(name) again"
      )
    }
  }

  /// Throws if a microphone port of `device` is missing from the graph or already connected.
  package func checkMicrophones(of device: Device, server: String?, stops: StopCount) throws {
    let probe = try ServerRequests(stops: stops).ask {
      try JackConnection(name: "check-\(getpid())", server: server)
    }
    defer { probe.close() }
    try MicrophonePorts.check(name, device.microphones.map(\.name), of: device.name, in: probe)
    for microphone in device.microphones {
      let port = "\(name):\(microphone.name)"
      guard let source = probe.connections(of: port).first else { continue }
      throw Failure(
        .failed,
        "\(port) is connected, and would pick up sound other than the check's; disconnect the microphones first: "
          + JackLibrary.command("jack_disconnect \(source) \(port)"))
    }
  }

  /// Sets the gain to 0 dB, ends muting, and sets all that is left unsaid otherwise, such as no high-pass and no pose. A look
  /// ends with the choice of each case's data source.
  package func prepare() throws(Failure) {
    let unsaid = SettingKey.ofFeeds.filter { $0 != .look }.flatMap { key in
      key.row.feed?.unsaid.map { [key.rawValue, $0.word] } ?? []
    }
    try Self.set(name, ["gain", "0", "mute", "off"] + unsaid)
  }

  /// Restores the settings from before the check.
  /// - Parameter warn: called with a sentence if that is not possible.
  package func restore(warn: (String) -> Void) {
    do {
      let before = statusBefore.first
      try Self.set(
        name,
        SettingKey.ofFeeds.flatMap { key in before.value(of: key).map { [key.rawValue, $0.word] } ?? [] })
    } catch {
      warn("the settings from before the check could not be restored: \(error)")
    }
  }

  /// Sends `/pinna/set` to the Pinna called `name`.
  /// - Throws: `Failure` if the request is refused or deferred, because a check needs the change at once.
  @discardableResult static func set(_ name: String, _ words: [String]) throws(Failure) -> ChangeReport {
    let message = OSCMessage("/pinna/set", words.map { .string($0) })
    let report: ChangeReport = try ControlClient(name: name).request(message).document()
    if let kept = report.kept { throw Failure(.refused, kept) }
    return report
  }
}
