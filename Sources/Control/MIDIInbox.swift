import JackClient
import Presets
import Processor

/// MIDI messages that have arrived and are not acted upon yet. Of each controller only the newest value counts, so a
/// moving fader never queues up.
package struct MIDIInbox {
  package enum Event: Hashable {
    /// From 0.
    case program(Int)
    case controller(MIDIMap.Controller, value: Int)
  }

  package private(set) var events: [Event] = []

  package init() {}

  /// Adds the messages that `map` listens to.
  package mutating func add(_ messages: [MIDIMessage], _ map: MIDIMap) {
    for message in messages where map.listens(to: message.channel) {
      switch message {
      case .programChange(_, let program):
        // The last program is wanted, and its preset sets what controllers before it did, mute excepted.
        events.removeAll { event in
          guard case .controller(let controller, _) = event else { return true }
          return controller.target != .record && controller.target != .mute
        }
        events.append(.program(program))
      case .controlChange(_, let number, let value):
        guard let controller = map.controllers.first(where: { $0.number == number }) else { continue }
        events.removeAll { if case .controller(controller, _) = $0 { true } else { false } }
        events.append(.controller(controller, value: value))
      }
    }
  }

  /// Removes and returns the oldest event for which `isFree` holds.
  package mutating func pop(where isFree: (Event) -> Bool) -> Event? {
    events.firstIndex(where: isFree).map { events.remove(at: $0) }
  }
}
