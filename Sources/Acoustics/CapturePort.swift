/// A physical capture port of a JACK graph.
public struct CapturePort: Hashable, Sendable {
  /// The full name: "system:capture_1".
  public let name: String
  /// Other full names of the port, such as "alsa_pcm:hw:SPK:out1".
  public let aliases: [String]
  /// The client that the port belongs to.
  public let client: String

  /// - Parameter client: nil for what stands before the last colon of the name, where no server can be asked.
  public init(name: String, client: String? = nil, aliases: [String] = []) {
    self.name = name
    self.aliases = aliases
    self.client = client ?? name.lastIndex(of: ":").map { String(name[..<$0]) } ?? name
  }
}

extension Device {
  /// The capture port of each microphone, in microphone order; nil where there is no such port.
  ///
  /// With `hardware`, ports are those of the client whose name or aliases contain the product's card. If there is none,
  /// they are those of the only client with as many ports as the hardware has channels, or else all ports. The
  /// microphone's capture channel counts through them.
  /// - Parameter ports: in the server's order.
  public func captureWiring(from ports: [CapturePort]) -> [CapturePort?] {
    let own = hardware.map { $0.ports(among: ports) } ?? ports
    return captureChannels.map { own.indices.contains($0 - 1) ? own[$0 - 1] : nil }
  }
}

extension Hardware {
  /// The capture ports of the product; all ports if no client can be told to be the product.
  fileprivate func ports(among all: [CapturePort]) -> [CapturePort] {
    let clients = Dictionary(grouping: all, by: \.client)
    // In the server's order, so that of two equal products the first is taken each time.
    let names = all.map(\.client).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    if let named = names.first(where: {
      clients[$0]!.contains { isNamed($0.client) || $0.aliases.contains(where: isNamed) }
    }) {
      return clients[named]!
    }
    let equal = names.filter { clients[$0]!.count == channels }
    return equal.count == 1 ? clients[equal[0]]! : all
  }

  private func isNamed(_ text: String) -> Bool {
    cards.contains { text.lowercased().contains($0.lowercased()) }
  }
}
