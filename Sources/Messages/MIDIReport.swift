/// The part of a status about MIDI, and the answer to `bank use`.
package struct MIDIReport: Codable, Sendable {
  /// Nil for all presets.
  package var bank: String?
  /// Names of presets, from program 1 on.
  package var programs: [String] = []
  /// From 1 to 16; nil for all.
  package var channel: Int?
  /// Number of mapped controllers.
  package var controllers = 0
  /// Full names of the ports that send to Pinna.
  package var sources: [String] = []

  package init() {}
}

/// The answer to `midi learn`: the controller that was moved.
package struct LearnAnswer: Codable, Sendable {
  /// From 1 to 16.
  package let channel: Int
  /// From 0 to 127.
  package let controller: Int

  package init(channel: Int, controller: Int) {
    self.channel = channel
    self.controller = controller
  }
}
