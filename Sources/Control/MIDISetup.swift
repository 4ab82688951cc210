import Presets

/// What MIDI messages do. A value; any thread.
package struct MIDISetup: Hashable, Sendable {
  package let map: MIDIMap
  package let bank: Bank
  /// The bank that was asked for; nil for that of the controllers' file.
  let chosenBank: String?

  package init(
    map: MIDIMap = MIDIMap(), bank: Bank = Bank(name: nil, title: "", presets: []), chosenBank: String? = nil
  ) {
    self.map = map
    self.bank = bank
    self.chosenBank = chosenBank
  }

  /// Reads files.
  /// - Parameter bank: name of the bank of program changes; nil for that of the controllers' file.
  /// - Throws: `BankNotFound`, or `DescriptionError` for an error in a file.
  package init(_ library: PresetLibrary, bank: String?) throws {
    map = try library.midiMap()
    chosenBank = bank
    self.bank = try library.bank(named: bank ?? map.bank)
  }
}

/// The part of a status about MIDI, and the answer to `bank use`. A value; any thread.
package struct MIDIReport: Codable, Sendable {
  /// Nil for all presets.
  package let bank: String?
  /// Names of presets, from program 1 on.
  package let programs: [String]
  /// From 1 to 16; nil for all.
  package let channel: Int?
  /// Number of mapped controllers.
  package let controllers: Int
  /// Full names of the ports that send to Pinna.
  package let sources: [String]

  init(_ setup: MIDISetup, sources: [String]) {
    bank = setup.bank.name
    programs = setup.bank.presets
    channel = setup.map.channel
    controllers = setup.map.controllers.count
    self.sources = sources
  }
}

/// The answer to `midi learn`: the controller that was moved. A value; any thread.
package struct LearnAnswer: Codable, Sendable {
  /// From 1 to 16.
  package let channel: Int
  /// From 0 to 127.
  package let controller: Int
}
