import CJack
import Foundation

/// Ports, ours and the graph's, and the connections between them.
extension JackConnection {
  public enum Direction: Sendable { case input, output }

  func registerPort(_ name: String, _ direction: Direction) throws(JackError) -> OpaquePointer {
    let flags = direction == .input ? JackPortIsInput : JackPortIsOutput
    guard let port = jack_port_register(client, name, JACK_DEFAULT_AUDIO_TYPE, UInt(flags.rawValue), 0) else {
      throw .portFailed(name)
    }
    return port
  }

  func unregisterPort(_ port: OpaquePointer) {
    unlabel(port)
    jack_port_unregister(client, port)
  }

  /// Full names of what one of our ports is connected to.
  func connections(of port: OpaquePointer) -> [String] { names(jack_port_get_connections(port)) }

  public func hasPort(_ name: String) -> Bool { jack_port_by_name(client, name) != nil }

  /// Names of ports with all of `flags`, in the server's order.
  public func ports(matching pattern: String? = nil, flags: JackPortFlags) -> [String] {
    names(jack_get_ports(client, pattern, JACK_DEFAULT_AUDIO_TYPE, UInt(flags.rawValue)))
  }

  /// The strings of a list of libjack's, which is freed.
  private func names(_ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> [String] {
    guard let list else { return [] }
    defer { jack_free(list) }
    var names: [String] = []
    var at = list
    while let name = at.pointee {
      names.append(String(cString: name))
      at += 1
    }
    return names
  }

  /// True where the two are connected afterwards.
  @discardableResult
  public func connect(_ source: String, _ destination: String) -> Bool {
    let result = jack_connect(client, source, destination)
    return result == 0 || result == EEXIST
  }

  /// True where the two are not connected afterwards.
  @discardableResult
  public func disconnect(_ source: String, _ destination: String) -> Bool {
    jack_disconnect(client, source, destination) == 0 || !connections(of: source).contains(destination)
  }

  /// Full names of what any client's port is connected to; none for a port that is not there.
  public func connections(of port: String) -> [String] {
    jack_port_by_name(client, port).map { names(jack_port_get_all_connections(client, $0)) } ?? []
  }

  /// Physical capture ports, to which microphones are connected, found by the flag and never by a name.
  public var physicalCapturePorts: [String] {
    ports(flags: JackPortFlags(JackPortIsPhysical.rawValue | JackPortIsOutput.rawValue))
  }

  public var physicalPlaybackPorts: [String] {
    ports(flags: JackPortFlags(JackPortIsPhysical.rawValue | JackPortIsInput.rawValue))
  }

  /// Asks the server for another period. Blocks until it runs with it.
  @discardableResult
  public func requestPeriod(_ frames: Int) -> Bool {
    jack_set_buffer_size(client, UInt32(frames)) == 0
  }

  @discardableResult
  public func setFreewheel(_ on: Bool) -> Bool { jack_set_freewheel(client, on ? 1 : 0) == 0 }

  public func recomputeLatencies() { jack_recompute_total_latencies(client) }
}
