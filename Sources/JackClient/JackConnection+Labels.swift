// The keys are C's global variables, which nobody ever writes.
@preconcurrency import CJack

/// What a patchbay shows of a port: JACK's metadata.
struct PortLabel: Sendable {
  let prettyName: String
  /// Ports of one group are shown together.
  let group: String
  /// Place within the group, from 0.
  let order: Int
  /// After the freedesktop.org icon naming specification.
  let iconName: String

  static func microphone(_ name: String, group: String, order: Int) -> PortLabel {
    PortLabel(
      prettyName: name.prefix(1).uppercased() + name.dropFirst().replacing("-", with: " "), group: group,
      order: order, iconName: "audio-input-microphone")
  }
}

extension JackConnection {
  /// Labels are kept by a number that the server uses again: what an earlier port left is removed before.
  func label(_ port: OpaquePointer, _ label: PortLabel) {
    unlabel(port)
    let uuid = jack_port_uuid(port)
    labelled.withLock { _ = $0.insert(uuid) }
    let text = "text/plain"
    for (key, value, type) in [
      (JACK_METADATA_PRETTY_NAME, label.prettyName, text), (JACK_METADATA_PORT_GROUP, label.group, text),
      (JACK_METADATA_ORDER, String(label.order), "http://www.w3.org/2001/XMLSchema#int"),
      (JACK_METADATA_ICON_NAME, label.iconName, text), (JACK_METADATA_SIGNAL_TYPE, "AUDIO", text),
    ] { jack_set_property(client, uuid, key, value, type) }
  }

  func unlabel(_ port: OpaquePointer) {
    let uuid = jack_port_uuid(port)
    labelled.withLock { _ = $0.remove(uuid) }
    jack_remove_properties(client, uuid)
  }
}
