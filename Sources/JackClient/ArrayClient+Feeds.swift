import Glibc
import Realtime

/// The ports of feeds besides `main`: they come and go while the callback runs, and outlive a change of device.
///
/// Thread: worker (see `ArrayClient`), except where noted.
extension ArrayClient {
  /// Registers the ports of a feed, unless they are there. They are silent until the engine plays the feed.
  /// - Parameter names: short names, in the order of the outputs.
  /// - Returns: the place of the first output in `Period.feeds`, from the next period on.
  /// - Throws: `serverGone`, `portFailed`, `stalled`, or `noPlace`; then no port is registered.
  public func addFeedPorts(_ names: [String]) throws(JackError) -> Int {
    guard let current = shared.values.withLock({ $0.ports }) else { throw .stalled }
    if let known = current.feeds.first(where: { $0.names == names }) { return known.firstOutput }
    guard canReplace(), areReleased(names) else { throw .stalled }
    let taken = current.feeds.map(\.places)
    let starts = 0...max(0, Engine.mostFeedOutputs - names.count)
    let first = starts.first { start in
      !taken.contains { $0.overlaps(start..<start + names.count) }
    }
    guard let first, names.count <= Engine.mostFeedOutputs else { throw .noPlace }
    var ports: [PortHandle] = []
    do throws(JackError) {
      for name in names { ports.append(PortHandle(try connection.registerPort(name, .output))) }
    } catch {
      for port in ports { connection.unregisterPort(port.port) }
      throw error
    }
    use(current, current.feeds + [FeedPorts(names: names, ports: ports, firstOutput: first)])
    return first
  }

  /// Unregisters the ports of a feed that the engine has been asked to end, or does not have. Waits until the callback no
  /// longer uses them, for 2 s at most; then they go with a later `releaseRetired`.
  /// - Throws: `stalled`.
  public func removeFeedPorts(_ names: [String]) throws(JackError) {
    guard let current = shared.values.withLock({ $0.ports }),
      current.feeds.contains(where: { $0.names == names })
    else { return }
    guard canReplace() else { throw .stalled }
    use(current, current.feeds.filter { $0.names != names })
    _ = areReleased(names)
  }

  /// Waits until the callback no longer uses the ports that were replaced, for 2 s at most.
  /// - Returns: false if no period runs.
  private func canReplace() -> Bool {
    let end = ContinuousClock.now + .seconds(2)
    while !trampoline.canReplace {
      if .now >= end { return false }
      usleep(1_000)
      releaseRetired()
    }
    return true
  }

  /// Makes the callback run the same engine with other feeds' ports.
  private func use(_ current: ArrayPorts, _ feeds: [FeedPorts]) {
    let ports = ArrayPorts(
      engine: current.engine, names: current.names, microphones: current.microphones, left: left.port,
      right: right.port, feeds: feeds)
    shared.values.withLock { $0.ports = ports }
    trampoline.outputs.withLock { $0 = [left, right] + feeds.flatMap(\.ports) }
    trampoline.replace(with: ports)
    connection.recomputeLatencies()
  }

  /// Short names of the ports of all outputs. Any thread.
  public var outputNames: [String] {
    Self.outputNames + shared.values.withLock { $0.ports?.feeds.flatMap(\.names) ?? [] }
  }
}
