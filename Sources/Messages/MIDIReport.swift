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

/// The answer to `midi learn`: the control that was moved.
package struct LearnAnswer: Codable, Sendable {
  /// From 1 to 16.
  package var channel = 1
  /// From 0 to 127; nil for a note.
  package var controller: Int?
  /// From 0 to 127; nil for a controller.
  package var note: Int?
  /// How it tells clicks, if it is an endless encoder, as the controllers' file calls it.
  package var relative: String?
  /// What it sent, in words.
  package var heard = ""

  package init() {}
}
