import Messages
import Presets

/// What MIDI messages do.
package struct MIDISetup: Hashable, Sendable {
  package let map: MIDIMap
  package let bank: Bank
  /// The bank that was asked for; nil for that of the controllers' file.
  package let chosenBank: String?

  package init(
    map: MIDIMap = MIDIMap(), bank: Bank = Bank(name: nil, title: "", presets: []), chosenBank: String? = nil
  ) {
    self.map = map
    self.bank = bank
    self.chosenBank = chosenBank
  }

  /// Reads files.
  /// - Parameter bank: name of the bank of program changes; nil for that of the controllers' file.
  /// - Throws: `DescriptionNotFound`, or `DescriptionError` for an error in a file.
  package init(_ library: PresetLibrary, bank: String?) throws {
    map = try library.midiMap()
    chosenBank = bank
    self.bank = try library.bank(named: bank ?? map.bank)
  }
}

extension MIDIReport {
  package init(_ setup: MIDISetup, sources: [String]) {
    self.init()
    bank = setup.bank.name
    programs = setup.bank.presets
    channel = setup.map.channel
    controllers = setup.map.controllers.count
    self.sources = sources
  }
}
