import Acoustics
import Control
import Foundation
import JackClient
import JackTools

/// The running Pinna that a check borrows: what was set before, to be set again.
package struct RunningPinna {
  private let name: String
  private let before: StatusReport

  /// - Throws: where none runs, while a take is recorded or something plays, or where a session controls the route.
  package init(name: String) throws(Failure) {
    self.name = name
    before = try ControlClient(name: name).request(OSCMessage("/pinna/status")).document()
    guard before.state != .recording else {
      throw Failure(
        .refused, "\(name) is recording, and a check changes what is set; stop it with: pinna record stop")
    }
    guard before.state != .playing else {
      throw Failure(
        .refused, "\(name) is playing, and a check listens to what comes out; stop it with: pinna play --stop"
      )
    }
    if let controller = before.controller {
      throw Failure(
        .refused,
        "the session \(controller) controls the route, which a check changes; end that program first")
    }
  }

  package var device: String { before.device }
  package var sampleRate: Int { before.sampleRate }

  /// Refuses where the microphones are not in this graph, or hear something already.
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
        "\(port) is connected, and would hear more than the check; disconnect the microphones first: "
          + "jack_disconnect \(source) \(port)")
    }
  }

  /// At its normal level, and heard.
  package func prepare() throws(Failure) { try set(["gain", "0", "mute", "off"]) }

  /// Sets what was set before.
  /// - Parameter warn: hears why that is not possible.
  package func restore(warn: (String) -> Void) {
    do {
      try set([
        "data-source", before.dataSource, "pattern", before.polarPattern.rawValue, "orientation",
        before.inputOrientation.rawValue, "gain", "\(before.gainDB)", "mute", before.muted ? "on" : "off",
      ])
    } catch {
      warn("what was set before the check could not be set again: \(error)")
    }
  }

  private func set(_ words: [String]) throws(Failure) {
    _ = try Self.set(name, words)
  }

  /// Sets what is to be in force now: what is only kept for later is a failure.
  static func set(_ name: String, _ words: [String]) throws(Failure) -> ChangeReport {
    let message = OSCMessage("/pinna/set", words.map { .string($0) })
    let report: ChangeReport = try ControlClient(name: name).request(message).document()
    if let kept = report.kept { throw Failure(.refused, kept) }
    return report
  }
}
