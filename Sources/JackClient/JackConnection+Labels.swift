import CJack

/// The JACK metadata of a port, which patchbays display. A value; any thread.
package struct PortLabel: Sendable, Equatable {
  package let prettyName: String
  /// Patchbays show ports of the same group together.
  package let group: String
  /// Position within the group, from 0.
  package let order: Int
  /// A name of the freedesktop.org icon naming specification.
  package let iconName: String
  /// Whether the port carries sound, rather than MIDI.
  package var isAudio = true

  /// Of the MIDI port.
  package static let control = PortLabel(
    prettyName: "Control", group: "Control", order: 0, iconName: "input-keyboard", isAudio: false)

  package static func microphone(_ name: String, group: String, order: Int) -> PortLabel {
    PortLabel(
      prettyName: name.prefix(1).uppercased() + name.dropFirst().replacing("-", with: " "), group: group,
      order: order, iconName: "audio-input-microphone")
  }
}

/// Thread: any but JACK's own. No function waits.
extension JackConnection {
  /// After this, a label is written although clients keep joining and leaving.
  private static let longestWaitForQuiet = Duration.seconds(2)

  /// Queues the label of an own port for writing.
  package func label(_ port: OpaquePointer, _ label: PortLabel) {
    guard let uuid = handle.ask({ _ in jack_port_uuid(port) }) else { return }
    labelled.withLock { _ = $0.insert(uuid) }
    let latest = ContinuousClock.now + Self.longestWaitForQuiet
    MetadataThread.shared.post(
      .init(
        owner: handle.number, server: server, port: uuid, label: label,
        isWanted: { [handle] in !handle.gone.load(ordering: .acquiring) },
        isHeldBack: { [handle] in handle.isFreewheeling || !handle.isQuiet && .now < latest }))
  }

  /// Cancels the label of a port that is about to be unregistered. The server removes written labels with the port.
  func unlabel(_ port: OpaquePointer) {
    guard let uuid = handle.ask({ _ in jack_port_uuid(port) }) else { return }
    labelled.withLock { _ = $0.remove(uuid) }
    MetadataThread.shared.drop(port: uuid)
  }

  /// Why ports may lack labels, as one sentence; nil while JACK's metadata database answers.
  public static var metadataFault: String? { MetadataThread.shared.fault }
}
