import Acoustics
import JackClient
import Presets
import Processor
import Settings

/// MIDI messages that have arrived and are not acted upon yet. Of a fader only the newest position counts, and an
/// encoder's clicks add up, so neither queues up while it moves. Every press counts.
package struct MIDIInbox {
  package enum Event: Hashable {
    /// From 0.
    case program(Int)
    /// A fader, knob or switch stands at this value, from 0 to 127.
    case position(MIDIMap.Controller, Int)
    /// An encoder was turned, up if positive.
    case clicks(MIDIMap.Controller, Int)
    /// A pad or button was pressed.
    case presses(MIDIMap.Controller, Int)

    package var controller: MIDIMap.Controller? {
      switch self {
      case .program: nil
      case .position(let controller, _), .clicks(let controller, _), .presses(let controller, _): controller
      }
    }
  }

  package private(set) var events: [Event] = []
  /// The last value of each controller that is a trigger.
  private var triggers: [MIDIMap.Source: Int] = [:]

  package init() {}

  /// Adds the messages that `map` listens to.
  package mutating func add(_ messages: [MIDIMessage], _ map: MIDIMap) {
    for message in messages where map.listens(to: message.channel) {
      switch message {
      case .programChange(_, let program):
        // The last program is wanted, and its preset sets what controllers before it did, but for mute and feeds.
        events.removeAll {
          $0.controller.map { $0.feed == FeedSetting.main && $0.target.isSetByPresets } ?? true
        }
        events.append(.program(program))
      case .controlChange(_, let number, let value):
        guard let controller = map.controller(.controller(number)) else { continue }
        if let encoding = controller.encoding {
          turn(controller, by: encoding.clicks(value))
        } else if controller.scale == .trigger {
          let last = triggers.updateValue(value, forKey: controller.source) ?? 0
          // A button that sends no release repeats its value.
          if value >= 64, last < 64 || last == value { events.append(.presses(controller, 1)) }
        } else {
          events.removeAll { $0.controller == controller }
          events.append(.position(controller, value))
        }
      case .note(_, let note, let velocity):
        guard velocity > 0, let controller = map.controller(.note(note)) else { continue }
        press(controller)
      case .pitchBend: continue
      }
    }
  }

  private mutating func turn(_ controller: MIDIMap.Controller, by clicks: Int) {
    guard let index = events.firstIndex(where: { $0.controller == controller }) else {
      return events.append(.clicks(controller, clicks))
    }
    // More clicks than any range has.
    if case .clicks(_, let sum) = events[index] {
      events[index] = .clicks(controller, min(max(sum + clicks, -10_000), 10_000))
    }
  }

  /// Presses of what must wait for a fade are counted. Takes and markers never wait.
  private mutating func press(_ controller: MIDIMap.Controller) {
    let index = events.firstIndex { $0.controller == controller }
    guard let index, controller.target.isSetting, case .presses(_, let count) = events[index] else {
      return events.append(.presses(controller, 1))
    }
    events[index] = .presses(controller, count + 1)
  }

  /// Removes and returns the oldest event for which `isFree` holds.
  package mutating func pop(where isFree: (Event) -> Bool) -> Event? {
    events.firstIndex(where: isFree).map { events.remove(at: $0) }
  }
}

extension MIDIMap.Target {
  /// Whether a preset sets it, too.
  fileprivate var isSetByPresets: Bool { isSetting && self != .setting(.mute) }
}
