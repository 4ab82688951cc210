/// What the motion of a control asks of its target.
public enum MIDIEffect: Hashable, Sendable {
  /// A value, as `pinna set` takes it; empty for a trigger.
  case set(String)
  case nothing
  /// Soft takeover: the fader stands at this value, and changes nothing until it has passed the present one.
  case waits(String)
}

extension MIDIMap.Controller {
  /// The effect of a fader, knob or switch that has moved.
  /// - Parameters:
  ///   - wire: its value, from 0 to 127.
  ///   - last: its value before; nil if it has not moved yet.
  ///   - present: the target's value.
  ///   - dataSources: names of the data sources of the device in use; not empty.
  public func effect(at wire: Int, last: Int?, present: String, dataSources: [String]) -> MIDIEffect {
    switch scale {
    case .range(let range):
      let value = range.value(at: wire)
      guard let now = Double(present) else { return .nothing }
      if range.isSame(value, now) { return .nothing }
      return range.passes(now, from: last, to: wire) ? .set("\(value)") : .waits("\(value)")
    case .toggle: return .set(wire >= 64 ? "on" : "off")
    case .trigger: return wire >= 64 ? .set("") : .nothing
    case .words(let words):
      let choices = words.isEmpty ? dataSources : words
      let choice = { (wire: Int) in wire * choices.count / 128 }
      // A knob acts where one choice passes into the next, a button at its ends.
      let hasPassed = last.map { choice($0) != choice(wire) } ?? false
      return hasPassed || wire == 0 || wire == 127 ? .set(choices[choice(wire)]) : .nothing
    }
  }

  /// The effect of an encoder that was turned by this many clicks, up if positive.
  public func effect(clicks: Int, present: String, dataSources: [String]) -> MIDIEffect {
    switch scale {
    case .range(let range):
      guard let now = Double(present) else { return .nothing }
      let value = range.value(clicks, from: now)
      return range.isSame(value, now) ? .nothing : .set("\(value)")
    case .toggle, .trigger: return .nothing
    case .words(let words):
      let choices = words.isEmpty ? dataSources : words
      let end = choices.count - 1
      guard let index = choices.firstIndex(where: { $0.lowercased() == present.lowercased() }) else {
        return .set(choices[clicks > 0 ? 0 : end])
      }
      let next = min(max(index + clicks, 0), end)
      return next == index ? .nothing : .set(choices[next])
    }
  }

  /// The effect of a pad or button that was pressed this many times.
  public func effect(presses: Int, present: String, dataSources: [String]) -> MIDIEffect {
    switch scale {
    case .range: return .nothing
    case .toggle: return presses % 2 == 0 ? .nothing : .set(present == "on" ? "off" : "on")
    case .trigger: return .set("")
    case .words(let words):
      let choices = words.isEmpty ? dataSources : words
      let index = choices.firstIndex { $0.lowercased() == present.lowercased() } ?? -1
      return .set(choices[(index + presses) % choices.count])
    }
  }
}

extension MIDIMap.Range {
  /// The value where a fader stands.
  /// - Parameter wire: from 0 to 127.
  public func value(at wire: Int) -> Double {
    Self.rounded(((from + (to - from) * Double(wire) / 127) / step).rounded() * step)
  }

  /// The value after clicks of an encoder. It stays between the ends, or goes round if they are all of a circle; one
  /// beyond them may only come back.
  public func value(_ clicks: Int, from present: Double) -> Double {
    let wanted = present + Double(clicks) * (to < from ? -click : click)
    if isCircle, abs(to - from) == circumference {
      return Self.rounded(wanted.remainder(dividingBy: circumference))
    }
    let (lowest, highest) = (min(from, to, present), max(from, to, present))
    return Self.rounded(min(max(wanted, lowest), highest))
  }

  /// Whether a fader that moves from one position to another meets the present value on its way. A value beyond its
  /// ends counts as that end.
  /// - Parameter last: nil if it is not known where it stood.
  func passes(_ present: Double, from last: Int?, to wire: Int) -> Bool {
    let ends = [value(at: last ?? wire), value(at: wire)]
    // A step of seven bits, and what rounding adds.
    let tolerance = abs(to - from) / 127 + step
    let path = ends.min()! - tolerance...ends.max()! + tolerance
    // A circle comes to the same value again beyond its limits.
    let places = isCircle ? [present - circumference, present, present + circumference] : [present]
    let (lowest, highest) = (min(from, to), max(from, to))
    if !places.contains(where: { (lowest...highest).contains($0) }) {
      return path.contains(min(max(present, lowest), highest))
    }
    return places.contains(where: path.contains)
  }

  private var circumference: Double { limits.upperBound - limits.lowerBound }

  fileprivate func isSame(_ a: Double, _ b: Double) -> Bool {
    a == b || isCircle && abs(a - b) == circumference
  }

  /// In steps of 0.1.
  private static func rounded(_ value: Double) -> Double {
    // Adding 0 turns -0.0 into 0.0.
    (value * 10).rounded() / 10 + 0
  }
}
