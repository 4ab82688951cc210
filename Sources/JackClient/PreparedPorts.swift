/// An engine with its registered ports, not yet in use. Any thread; immutable.
public final class PreparedPorts: Sendable {
  let ports: ArrayPorts
  /// The ports that were registered for this engine; the others are shared with the previous one.
  let newPorts: [PortHandle]
  let delayFrames: Int

  init(ports: ArrayPorts, newPorts: [PortHandle], delayFrames: Int) {
    self.ports = ports
    self.newPorts = newPorts
    self.delayFrames = delayFrames
  }
}
