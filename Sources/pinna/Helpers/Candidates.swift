import Acoustics
import Messages
import Presets
import Processor
import Realtime
import Recording
import Settings

/// Candidates for shell completion. The scripts of `Shell` request them with `pinna --complete WORD…`.
enum Candidates {
  static let word = "--complete"

  /// Prints the candidates, one per line.
  /// - Returns: the exit status of the process.
  static func run(_ words: [String]) -> Int32 {
    for candidate in list(words) { Tool.say(candidate) }
    return 0
  }

  /// - Parameter words: the words after `pinna`. The last one is the incomplete word, and may be empty.
  /// - Returns: an empty list if a file is expected, or a value that Pinna cannot enumerate.
  static func list(_ words: [String]) -> [String] {
    let typed = words.last ?? ""
    return candidates(before: Array(words.dropLast()), typed).filter { $0.hasPrefix(typed) }
  }

  private static func candidates(before words: [String], _ typed: String) -> [String] {
    guard let first = words.first else { return Tool.firstWords + ["--version", "--help"] }
    if words == [Verb.help.name], !typed.hasPrefix("-") { return Tool.firstWords }
    let family = Tool.secondWords(of: first)
    if words.count == 1, !family.isEmpty { return family }
    let name = family.isEmpty ? first : words.prefix(2).joined(separator: " ")
    guard let verb = Tool.verbs.first(where: { $0.name == name }) else { return [] }
    let options = verb.options + [Verb.helpOption]
    if let option = options.first(where: { $0.name == words.last && $0.value != nil }) {
      return values(of: option, verb)
    }
    if typed.hasPrefix("-") { return options.map(\.name) }
    switch verb.operands.first {
    case "BANK", "[BANK]": return PresetLibrary.standard.bankNames()
    case "TARGET": return MIDIMap.Target.allCases.map(\.rawValue)
    case "NAME", "[PRESET]":
      return verb.name == Verb.presetSave.name ? [] : PresetLibrary.standard.presetNames()
    default: return []
    }
  }

  private static func values(of option: Verb.Option, _ verb: Verb) -> [String] {
    func words<Word: NamedWord>(_: Word.Type) -> [String] { Word.allCases.map(\.rawValue) }
    return switch (option.name, option.value) {
    case ("--preset", _): PresetLibrary.standard.presetNames()
    case ("--bank", _): PresetLibrary.standard.bankNames()
    case (_, "DEVICE"): PresetLibrary.standard.deviceNames()
    case (_, "PATTERN"): words(PolarPattern.self)
    case (_, "ORIENTATION"): words(InputOrientation.self)
    case (_, "OUTPUT"): words(OutputChoice.self)
    case (_, "SET"): InstructionSet.available.map(\.rawValue)
    case (_, "SHELL"): words(Shell.self)
    case (_, "TABLE"): words(ReferenceTable.self)
    case (_, "FORMAT") where verb.name == Verb.recordStart.name: words(TakeFormat.self)
    case (_, "FORMAT") where verb.name == Verb.report.name: words(PlotFormat.self)
    case (_, "FORMAT") where verb.name == Verb.export.name: words(ExportFormat.self)
    case (_, let value?) where value.contains("|"):
      value.split(whereSeparator: { "[|]".contains($0) }).map(String.init)
    default: []
    }
  }
}
