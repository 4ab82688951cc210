import Presets

/// What kind of control sends the values of one controller number.
package enum MIDIControlKind: Hashable, Sendable {
  /// A fader or knob, which sends where it stands.
  case positions
  /// An endless encoder, which sends how far it was turned.
  case clicks(MIDIMap.RelativeEncoding)
  /// Two values, of which one is 0.
  case button

  /// The most clicks of one message. Encoders send more the faster they are turned.
  private static let mostClicks = 16
  /// The farthest that a fader moves between two messages.
  private static let farthest = 40
  /// More than an encoder's values in one direction span.
  private static let halfRange = 64

  /// Nil if the values fit more than one kind, or none: an encoder must never be taken for a fader, since each click
  /// would set one end of its range or the other.
  /// - Parameters:
  ///   - values: in the order of their arrival, from 0 to 127.
  ///   - isCoarse: whether a controller with the fine part of 14 bits goes along, which no encoder has.
  package init?(_ values: [Int], isCoarse: Bool = false) {
    guard values.count >= 2 else { return nil }
    let distinct = Set(values)
    let steps = zip(values, values.dropFirst()).map { abs($1 - $0) }
    let fitting = MIDIMap.RelativeEncoding.allCases.filter { encoding in
      !isCoarse && values.allSatisfy { Self.isClick($0, encoding) }
    }
    guard fitting.isEmpty else {
      guard fitting.count == 1, Self.isTurnedBothWays(values, fitting[0], steps) else { return nil }
      self = .clicks(fitting[0])
      return
    }
    if distinct.count == 2, distinct.contains(0), distinct.max()! >= 64 {
      self = .button
      return
    }
    // A fader is silent while it stands.
    let repeatsClick = zip(values, values.dropFirst()).contains { value, next in
      value == next && MIDIMap.RelativeEncoding.allCases.contains { Self.isClick(value, $0) }
    }
    // An encoder has no message for 0 clicks.
    let isAtRest = distinct.contains(0) || distinct.contains(64)
    let isSwept = distinct.max()! - distinct.min()! >= Self.halfRange && steps.max()! <= Self.farthest
    guard distinct.count >= 3, isAtRest || isSwept, isCoarse || !repeatsClick else { return nil }
    self = .positions
  }

  private static func isClick(_ value: Int, _ encoding: MIDIMap.RelativeEncoding) -> Bool {
    let clicks = encoding.clicks(value)
    return value != 0 && clicks != 0 && abs(clicks) <= mostClicks
  }

  /// Whether single clicks of both directions are there, and something that a fader never does: it stands still and
  /// sends, leaps, or passes the middle and comes back without being there.
  private static func isTurnedBothWays(_ values: [Int], _ encoding: MIDIMap.RelativeEncoding, _ steps: [Int])
    -> Bool
  {
    let clicks = values.map(encoding.clicks)
    let hasSingles = clicks.contains { (1...3).contains($0) } && clicks.contains { (-3 ... -1).contains($0) }
    let turns = zip(clicks, clicks.dropFirst()).count { ($0 > 0) != ($1 > 0) }
    return hasSingles && values.count >= 3 && (steps.contains(0) || steps.max()! > 32 || turns >= 2)
  }
}
