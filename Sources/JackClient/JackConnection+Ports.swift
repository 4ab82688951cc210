import CJack
import Glibc

/// Own ports, the graph's ports, and their connections. All lists are empty after the server has gone.
///
/// Thread: any but JACK's own. Functions marked *waits for the server* also wait for other threads' requests.
extension JackConnection {
  public enum Direction: Sendable { case input, output }
  package enum PortType: Sendable { case audio, midi }

  /// Registers an own port. Waits for the server.
  /// - Throws: `portFailed` or `serverGone`.
  package func registerPort(_ name: String, _ direction: Direction, type: PortType = .audio)
    throws(JackError) -> OpaquePointer
  {
    let flags = UInt((direction == .input ? JackPortIsInput : JackPortIsOutput).rawValue)
    let typeName = type == .midi ? JACK_DEFAULT_MIDI_TYPE : JACK_DEFAULT_AUDIO_TYPE
    let port = handle.registerPort { jack_port_register($0, name, typeName, flags, 0) }
    guard let port else { throw isAnswering ? .portFailed(name) : .serverGone }
    return port.port
  }

  /// Gives an own port another full name. Waits for the server.
  package func setAlias(_ alias: String, of port: OpaquePointer) {
    _ = handle.request { _ in jack_port_set_alias(port, alias) }
  }

  /// Unregisters an own port. Waits for the server.
  func unregisterPort(_ port: OpaquePointer) {
    handle.unregister(PortHandle(port))
  }

  /// Full names of the peers of an own port. Never waits.
  func connections(of port: OpaquePointer) -> [String] {
    handle.ask { _ in names(jack_port_get_connections(port)) } ?? []
  }

  /// Whether a port exists. Never waits, but searches all ports; to test many names, use `allPorts`.
  public func hasPort(_ name: String) -> Bool { handle.ask { jack_port_by_name($0, name) != nil } ?? false }

  /// Full names of all ports, audio and MIDI. Never waits.
  var allPorts: Set<String> {
    Set(handle.ask { names(jack_get_ports($0, nil, nil, 0)) } ?? [])
  }

  /// Full names of audio ports with all of `flags`, in the server's order. Never waits.
  public func ports(matching pattern: String? = nil, flags: JackPortFlags) -> [String] {
    handle.ask { names(jack_get_ports($0, pattern, JACK_DEFAULT_AUDIO_TYPE, UInt(flags.rawValue))) } ?? []
  }

  /// Copies the strings of a list that libjack allocated, and frees the list.
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

  /// Connects two ports by their full names. Waits for the server.
  /// - Returns: whether they are connected afterwards.
  @discardableResult
  public func connect(_ source: String, _ destination: String) -> Bool {
    let result = handle.request { jack_connect($0, source, destination) }
    return result == 0 || result == EEXIST
  }

  /// Disconnects two ports. Waits for the server.
  /// - Returns: whether they are disconnected afterwards.
  @discardableResult
  public func disconnect(_ source: String, _ destination: String) -> Bool {
    handle.request { jack_disconnect($0, source, destination) } == 0
      || !connections(of: source).contains(destination)
  }

  /// Full names of the peers of any client's port; empty if the port does not exist. Never waits.
  public func connections(of port: String) -> [String] {
    handle.ask { client in
      jack_port_by_name(client, port).map { names(jack_port_get_all_connections(client, $0)) } ?? []
    } ?? []
  }

  /// Full names of the physical capture ports, identified by JACK's flags and never by name. Never waits.
  public var physicalCapturePorts: [String] {
    ports(flags: JackPortFlags(JackPortIsPhysical.rawValue | JackPortIsOutput.rawValue))
  }

  /// Other full names of a port, at most two; empty if the port does not exist. Never waits.
  public func aliases(of port: String) -> [String] {
    handle.ask { client in
      guard let port = jack_port_by_name(client, port) else { return [] }
      let size = Int(jack_port_name_size())
      let buffers = (0..<2).map { _ in UnsafeMutablePointer<CChar>.allocate(capacity: size) }
      defer { for buffer in buffers { buffer.deallocate() } }
      for buffer in buffers { buffer.initialize(repeating: 0, count: size) }
      let count = buffers.map { $0 as UnsafeMutablePointer<CChar>? }.withUnsafeBufferPointer {
        jack_port_get_aliases(port, $0.baseAddress!)
      }
      return buffers.prefix(max(0, Int(count))).map { String(cString: $0) }.filter { !$0.isEmpty }
    } ?? []
  }

  /// The client that a port belongs to, by its full name. Waits for the server if the name has several colons.
  public func clientName(ofPort port: String) -> String {
    handle.request { Self.clientName(ofPort: port, $0) } ?? port
  }

  /// Full names of the physical playback ports. Never waits.
  public var physicalPlaybackPorts: [String] {
    ports(flags: JackPortFlags(JackPortIsPhysical.rawValue | JackPortIsInput.rawValue))
  }

  /// Requests another period, in frames. Waits for the server until the period is in use.
  /// - Returns: whether the server accepted the request.
  @discardableResult
  public func requestPeriod(_ frames: Int) -> Bool {
    handle.request { jack_set_buffer_size($0, UInt32(frames)) } == 0
  }

  /// Switches freewheel mode on or off. Waits for the server.
  /// - Returns: whether the server accepted the request.
  @discardableResult
  public func setFreewheel(_ on: Bool) -> Bool { handle.request { jack_set_freewheel($0, on ? 1 : 0) } == 0 }

  /// Makes the server call the latency callbacks of all clients. Waits for the server.
  public func recomputeLatencies() { _ = handle.request { jack_recompute_total_latencies($0) } }

  /// Calls the listener for the latencies that PipeWire has asked for since the last call. Waits for the server.
  public func reportLatencies() { handle.reportLatencies() }
}
