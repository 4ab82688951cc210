/// The ports of a feed besides `main`. Immutable; any thread.
struct FeedPorts: Sendable {
  /// Short names, in the order of the outputs.
  let names: [String]
  let ports: [PortHandle]
  /// The place of the first one in `Period.feeds`.
  let firstOutput: Int

  var places: Range<Int> { firstOutput..<firstOutput + ports.count }
}
