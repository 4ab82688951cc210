import CJack

/// What a patchbay shows of a port: JACK's metadata.
package struct PortLabel: Sendable, Equatable {
  package let prettyName: String
  /// Ports of one group are shown together.
  package let group: String
  /// Place within the group, from 0.
  package let order: Int
  /// After the freedesktop.org icon naming specification.
  package let iconName: String

  package static func microphone(_ name: String, group: String, order: Int) -> PortLabel {
    PortLabel(
      prettyName: name.prefix(1).uppercased() + name.dropFirst().replacing("-", with: " "), group: group,
      order: order, iconName: "audio-input-microphone")
  }
}

extension JackConnection {
  /// Any thread; returns at once.
  package func label(_ port: OpaquePointer, _ label: PortLabel) {
    guard let uuid = handle.ask({ _ in jack_port_uuid(port) }) else { return }
    labelled.withLock { _ = $0.insert(uuid) }
    MetadataThread.shared.post(
      .init(
        owner: handle.number, server: server, port: uuid, label: label,
        isWanted: { [handle] in !handle.gone.load(ordering: .acquiring) },
        isHeldBack: { [handle] in handle.isFreewheeling }))
  }

  /// Any thread; returns at once. The server removes the labels with the port.
  func unlabel(_ port: OpaquePointer) {
    guard let uuid = handle.ask({ _ in jack_port_uuid(port) }) else { return }
    labelled.withLock { _ = $0.remove(uuid) }
    MetadataThread.shared.drop(port: uuid)
  }

  /// Any thread: why ports may be without labels, in one sentence; nil while JACK's metadata database answers.
  public static var metadataFault: String? { MetadataThread.shared.fault }
}
