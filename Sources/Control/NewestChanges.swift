import Messages

/// The newest change of each kind, in the order in which they were made.
struct NewestChanges {
  /// How many changes there have been.
  private(set) var count = 0
  private var newest: [(number: Int, change: Change)] = []

  mutating func note(_ changes: [Change]) {
    // A preset keeps the output and the mute as they are.
    for change in changes where change.key != .output && change.key != .mute {
      count += 1
      newest.removeAll { $0.change.key == change.key }
      newest.append((count, change))
    }
  }

  /// Those made after `count` was `start`.
  func since(_ start: Int) -> [Change] { newest.filter { $0.number > start }.map(\.change) }
}
