import Acoustics

/// An audio graph whose physical capture ports can be listed: a JACK server's, or a recorded one.
public protocol CaptureGraph {
  /// In the server's order.
  /// - Throws: if no server answers.
  func capturePorts() throws -> [CapturePort]
}

/// A client of an audio graph that has physical capture ports, such as "system", or a PipeWire node.
public struct CaptureClient: Hashable, Sendable {
  public let name: String
  public let ports: [CapturePort]

  /// The clients of `graph`, in the order of their first ports. A port that the server lists under several names counts
  /// once.
  public static func list(of graph: some CaptureGraph) throws -> [CaptureClient] {
    var names: [String] = []
    var ports: [CapturePort] = []
    for port in try graph.capturePorts()
    where !ports.contains(where: {
      $0.name == port.name || $0.aliases.contains(port.name) || port.aliases.contains($0.name)
    }) {
      ports.append(port)
    }
    for port in ports where !names.contains(port.client) { names.append(port.client) }
    return names.map { name in CaptureClient(name: name, ports: ports.filter { $0.client == name }) }
  }
}
