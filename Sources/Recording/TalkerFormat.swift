import Acoustics
import FoundationEssentials
import Text

/// Files that say who spoke when: what each can hold of a name differs.
public enum TalkerFormat: String, NamedWord {
  /// NIST's Rich Transcription Time Marked, a line each: fields are separated by blanks.
  case rttm
  case webvtt, csv, json
  /// Audacity's label track.
  case labels

  public static let kind = "format of talkers"

  /// - Parameters:
  ///   - utterances: in the order of their beginnings.
  ///   - take: its name.
  /// - Returns: the file, and what it could not hold: one sentence each.
  public func text(_ utterances: [Utterance], of take: String) -> (text: String, remarks: [String]) {
    switch self {
    case .rttm: Self.rttm(utterances, take)
    case .webvtt: (Self.webvtt(utterances), [])
    case .csv: (Self.csv(utterances), [])
    case .json: (Self.json(utterances, take), [])
    case .labels: (Self.labels(utterances), [])
    }
  }

  // MARK: RTTM

  /// Words that readers take for no value.
  private static let missing: Set = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
  ]

  /// The name of a take as one word, and no other take's: files of several are put together.
  static func uri(_ name: String) -> String {
    let isMissing = missing.contains(name) || name.hasPrefix(";") || name.hasPrefix("#")
    return name.enumerated().map { n, character in
      let isOdd = character.isWhitespace || character.isControl || "\"%".contains(character)
      guard isOdd || isMissing && n == 0 else { return String(character) }
      return character.utf8.map { String.formatted("%%%02X", [Int($0)]) }.joined()
    }.joined()
  }

  /// A name that every reader reads as one word.
  static func word(_ name: String) -> String {
    let word = String(name.map { $0.isWhitespace || $0 == "\"" || $0.isControl ? "_" : $0 })
    return missing.contains(word) || word.hasPrefix(";") || word.hasPrefix("#") ? "_" + word : word
  }

  private static func rttm(_ utterances: [Utterance], _ take: String) -> (String, [String]) {
    var (words, remarks): ([String: String], [String]) = ([:], [])
    func note(_ name: String, _ word: String) {
      if word != name { remarks.append("RTTM cannot hold \(name.quoted); it is \(word) there") }
    }
    let uri = uri(take)
    note(take, uri)
    for name in utterances.map(\.name) where words[name] == nil {
      var word = word(name)
      while words.values.contains(word) { word += "_" }
      words[name] = word
      // That blanks become lines is expected of the names that Pinna gives.
      if word != name.replacing(" ", with: "_") || !name.hasPrefix("talker ") { note(name, word) }
    }
    let lines = utterances.map {
      "SPEAKER \(uri) 1 \($0.begin.fixed(3)) \($0.duration.fixed(3)) <NA> <NA> \(words[$0.name]!) "
        + "\($0.confidence.fixed(2)) <NA>\n"
    }
    return (lines.joined(), remarks)
  }

  // MARK: WebVTT

  /// A cue each: readers give a cue with several voices to the first of them.
  private static func webvtt(_ utterances: [Utterance]) -> String {
    func escaped(_ text: String) -> String {
      text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
    return utterances.reduce(into: "WEBVTT\n") {
      // A cue must end after it begins.
      let end = max($1.end, $1.begin + 0.001)
      $0 += "\n\(clock($1.begin)) --> \(clock(end))\n<v \(escaped($1.name))>\(escaped($1.name))</v>\n"
    }
  }

  /// "01:02:03.456"; hours have more digits if they need them.
  static func clock(_ seconds: Double) -> String {
    let total = Int((seconds * 1000).rounded())
    func digits(_ number: Int, _ count: Int) -> String {
      String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
    }
    return digits(total / 3_600_000, 2) + ":" + digits(total / 60_000 % 60, 2) + ":"
      + digits(total / 1000 % 60, 2) + "." + digits(total % 1000, 3)
  }

  // MARK: Tables

  public static let columns = ["begin", "duration", "name", "azimuth", "elevation", "level", "confidence"]

  private static func csv(_ utterances: [Utterance]) -> String {
    utterances.reduce(into: columns.joined(separator: ",") + "\n") {
      let needsQuotes = $1.name.contains { ",\"\n\r".contains($0) } || $1.name.hasPrefix(" ")
      let name = needsQuotes ? "\"" + $1.name.replacing("\"", with: "\"\"") + "\"" : $1.name
      $0 +=
        [
          $1.begin.fixed(3), $1.duration.fixed(3), name, $1.look.azimuth.fixed(0), $1.look.elevation.fixed(0),
          $1.level.fixed(1), $1.confidence.fixed(2),
        ].joined(separator: ",") + "\n"
    }
  }

  private static func json(_ utterances: [Utterance], _ take: String) -> String {
    let lines = utterances.map {
      "{\"begin\": \($0.begin.fixed(3)), \"duration\": \($0.duration.fixed(3)), \"name\": \($0.name.json), "
        + "\"azimuth\": \($0.look.azimuth.fixed(0)), \"elevation\": \($0.look.elevation.fixed(0)), "
        + "\"level\": \($0.level.fixed(1)), \"confidence\": \($0.confidence.fixed(2))}"
    }
    let list = lines.isEmpty ? "[]" : "[\n  \(lines.joined(separator: ",\n  "))\n]"
    return "{\"take\": \(take.json), \"talkers\": \(list)}\n"
  }

  /// Tabs separate its fields.
  private static func labels(_ utterances: [Utterance]) -> String {
    utterances.map { utterance in
      let name = String(utterance.name.map { $0.isControl || $0.isNewline ? " " : $0 })
      return "\(utterance.begin.fixed(6))\t\(utterance.end.fixed(6))\t\(name)\n"
    }.joined()
  }
}

extension Double {
  /// With so many digits behind the point, and no negative zero.
  fileprivate func fixed(_ digits: Int) -> String {
    let text = String.formatted("%.\(digits)f", [self])
    return text.allSatisfy { "-0.".contains($0) } && text.hasPrefix("-") ? String(text.dropFirst()) : text
  }
}

extension String {
  fileprivate var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return String(decoding: (try? encoder.encode(self)) ?? Data("\"\"".utf8), as: UTF8.self)
  }
}
