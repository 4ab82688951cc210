import Control
import FilterDesign
import Foundation

/// Finds the verb, runs it, turns errors into one sentence and an exit status.
enum Tool {
  static let version = "0.1.0"

  static let verbs: [Verb] = [
    .run, .status, .set, .stop, .inputs, .presetList, .presetShow, .presetUse, .presetCancel,
    .recordStart, .recordStop,
    .takesList, .takesRepair, .play,
    .render, .simulate, .design, .report, .export, .check, .demo, .bench, .help,
  ]

  static func run(_ words: [String]) -> ExitStatus {
    // Not a verb: how Pinna reads SOFA files.
    if words == [SofaReader.word] { exit(SofaReader.run()) }
    do {
      if words.first == "--version" {
        print("pinna \(version)")
        return .done
      }
      if words.isEmpty || ["--help", "-h"].contains(words[0]) {
        print(overview)
        return words.isEmpty ? .usage : .done
      }
      if words.count == 2, let help = help(forFamily: words) {
        print(help)
        return .done
      }
      let (verb, rest) = try find(words)
      if rest.contains("--help") || rest.contains("-h") {
        print(verb.help)
        return .done
      }
      return try verb.action(Arguments(rest, of: verb))
    } catch {
      let failure = Failure(error)
      complain(failure.description)
      return failure.status
    }
  }

  /// What `pinna preset --help` shows.
  private static func help(forFamily words: [String]) -> String? {
    let family = verbs.filter { $0.name.hasPrefix(words[0] + " ") }
    guard !family.isEmpty, ["--help", "-h"].contains(words[1]) else { return nil }
    return family.map(\.help).joined(separator: "\n\n")
  }

  /// The verb that `words` begin with, one word or two, and what follows it.
  private static func find(_ words: [String]) throws(Failure) -> (Verb, [String]) {
    if let verb = verbs.first(where: { $0.name == words[0] }) { return (verb, Array(words.dropFirst())) }
    let pair = words.prefix(2).joined(separator: " ")
    if let verb = verbs.first(where: { $0.name == pair }) { return (verb, Array(words.dropFirst(2))) }
    let family = verbs.filter { $0.name.hasPrefix(words[0] + " ") }
    if family.isEmpty {
      let known = verbs.map { $0.name.split(separator: " ")[0] }.reduce(into: [Substring]()) {
        if $0.last != $1 { $0.append($1) }
      }
      if words[0].hasPrefix("-") {
        throw Failure(.usage, "\(words[0]) stands before the verb; write: pinna VERB \(words[0]) …")
      }
      throw Failure(.usage, "unknown verb \"\(words[0])\"; use one of: \(known.joined(separator: ", "))")
    }
    let known = family.map { String($0.name.dropFirst(words[0].count + 1)) }.joined(separator: ", ")
    let typed =
      words.count > 1
      ? "unknown word \"\(words[1])\" after pinna \(words[0])" : "pinna \(words[0]) needs a word"
    throw Failure(.usage, "\(typed); use one of: \(known)")
  }

  static var overview: String {
    let width = verbs.map { $0.name.count }.max()!
    let lines = verbs.map { "  " + $0.name.padded(width) + "  " + $0.summary }
    return """
      Pinna gives any microphone array in a JACK graph what a phone gives its microphones.

      usage: pinna VERB [options]

      \(lines.joined(separator: "\n"))

      pinna VERB --help explains each.
      """
  }

  /// A line at once, also into a pipe.
  static func say(_ line: String) { Output.say(line) }

  /// Errors and progress go to standard error; results to standard output.
  static func complain(_ sentence: String) {
    WorkProgress.endLine()
    Output.complain(sentence)
  }
}
