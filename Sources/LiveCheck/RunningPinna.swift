import Acoustics
import Control
import Foundation
import JackClient

/// The running Pinna that a check borrows: what was set before, to be set again.
struct RunningPinna {
  private let name: String
  private let before: AnswerDocument

  /// - Throws: where none runs, while a take is recorded or something plays, or where a session controls the route.
  init(name: String) throws(Failure) {
    self.name = name
    before = AnswerDocument(try Self.ask(name, OSCMessage("/pinna/status")))
    guard before.string("state") != "recording" else {
      throw Failure(
        .refused, "\(name) is recording, and a check changes what is set; stop it with: pinna record stop")
    }
    guard before.string("state") != "playing" else {
      throw Failure(
        .refused, "\(name) is playing, and a check listens to what comes out; stop it with: pinna play --stop"
      )
    }
    let controller = before.string("controller")
    guard controller.isEmpty else {
      throw Failure(
        .refused,
        "the session \(controller) controls the route, which a check changes; end that program first")
    }
  }

  var device: String { before.string("device") }
  var sampleRate: Int { before.integer("sampleRate") }

  /// Refuses where the microphones are not in this graph, or hear something already.
  func checkMicrophones(of device: Device, server: String?) throws {
    let probe = try JackConnection(name: "check-\(getpid())", server: server)
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
  func prepare() throws(Failure) { try set(["gain", "0", "mute", "off"]) }

  /// What was set before. Says so where that is not possible.
  func restore() {
    do {
      try set([
        "data-source", before.string("dataSource"), "pattern", before.string("polarPattern"), "orientation",
        before.string("inputOrientation"), "gain", "\(before.number("gainDB"))", "mute",
        before.boolean("muted") ? "on" : "off",
      ])
    } catch {
      Tool.complain("what was set before the check could not be set again: \(error)")
    }
  }

  private func set(_ words: [String]) throws(Failure) {
    _ = try Self.set(name, words)
  }

  /// Sets what is to be in force now: what is only kept for later is a failure.
  static func set(_ name: String, _ words: [String]) throws(Failure) -> AnswerDocument {
    let answer = AnswerDocument(try ask(name, OSCMessage("/pinna/set", words.map { .string($0) })))
    let kept = answer.string("kept")
    guard kept.isEmpty else { throw Failure(.refused, kept) }
    return answer
  }

  private static func ask(_ name: String, _ message: OSCMessage) throws(Failure) -> String {
    let answer = try ControlClient(name: name).request(message)
    guard answer.status == .done else { throw Failure(answer.status, answer.text) }
    return answer.text
  }
}
