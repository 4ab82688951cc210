import CJack

/// A request to the label writer: a port and its new label, or nil to remove its label. A value; any thread.
package struct LabelRequest: Equatable {
  package let port: jack_uuid_t
  package let label: PortLabel?

  private static let separator: UInt8 = 0

  /// The request as a packet. Texts are truncated to fit.
  package var packet: [UInt8] {
    let texts =
      label.map { [$0.prettyName, $0.group, String($0.order), $0.iconName, $0.isAudio ? "1" : "0"] } ?? []
    let parts = [String(port)] + texts
    return Array(parts.map { Array($0.utf8.prefix(Self.longestText)) }.joined(separator: [Self.separator]))
  }

  package init(port: jack_uuid_t, label: PortLabel?) {
    self.port = port
    self.label = label
  }

  package init?(packet: [UInt8]) {
    let parts = packet.split(separator: Self.separator, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard let port = jack_uuid_t(parts[0]) else { return nil }
    self.port = port
    if parts.count == 1 {
      label = nil
      return
    }
    guard parts.count == 6, let order = Int(parts[3]), ["0", "1"].contains(parts[5]) else { return nil }
    label = PortLabel(
      prettyName: parts[1], group: parts[2], order: order, iconName: parts[4], isAudio: parts[5] == "1")
  }

  /// In bytes.
  private static let longestText = 256
}
