import CJack

/// What a process that writes labels is asked for, as a packet: a port, and its label where it is to have one.
package struct LabelOrder: Equatable {
  package let port: jack_uuid_t
  package let label: PortLabel?

  private static let separator: UInt8 = 0

  /// Texts are cut, so that a packet has room for all of them.
  package var packet: [UInt8] {
    let texts = label.map { [$0.prettyName, $0.group, String($0.order), $0.iconName] } ?? []
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
    guard parts.count == 5, let order = Int(parts[3]) else { return nil }
    label = PortLabel(prettyName: parts[1], group: parts[2], order: order, iconName: parts[4])
  }

  private static let longestText = 256
}
