import Acoustics
import Control
import Glibc
import JackClient
import Measurements
import Messages
import Settings
import Text
import WebPage

/// The command line: finds the verb, runs it, and turns an error into one sentence and an exit status.
enum Tool {
  static let version = "0.3.0"

  /// In the order of the overview.
  static let verbs: [Verb] = Overview.groups.flatMap { $0.value.flatMap(\.verbs) } + [.help]

  /// Not verbs: what this program does as a helper process of another one, by its first word. Each returns its exit
  /// status.
  private static let helpers: [String: @Sendable ([String]) -> Int32] = [
    SofaReader.argument: { _ in SofaReader.run() },
    ServerProbe.word: { ServerProbe.run(server: $0.first) },
    VirtualMicrophone.word: VirtualMicrophone.hold,
    WebProcess.word: { _ in WebProcess.run(curves: PolarCurves().document, talkers: TalkerPictures().picture)
    },
    TalkerPictures.word: TalkerPictures.draw,
    Candidates.word: Candidates.run,
  ]

  static func run(_ words: [String]) -> ExitStatus {
    if let word = words.first, let helper = helpers[word] { end(helper(Array(words.dropFirst()))) }
    do {
      try checkEncoding()
      if words.first == "--version" {
        say("pinna \(version)")
        return .done
      }
      // Session managers start programs without arguments.
      if words.isEmpty, NSMClient.isNamed() { return try Verb.run.action(Arguments([], of: .run)) }
      if words.isEmpty || ["--help", "-h"].contains(words[0]) {
        say(Overview.text)
        return words.isEmpty ? .usage : .done
      }
      if words.count == 2, let help = help(forFamily: words) {
        say(help)
        return .done
      }
      let (verb, rest) = try find(words)
      if rest.prefix(while: { $0 != Arguments.endOfOptions }).contains(where: ["--help", "-h"].contains) {
        say(verb.help)
        return .done
      }
      let arguments = try Arguments(rest, of: verb)
      guard verb.showsProgress else { return try verb.action(arguments) }
      return try WorkProgress.watch(verb.name) { try verb.action(arguments) }
    } catch {
      let failure = Failure(error)
      complain(failure.description)
      return failure.status
    }
  }

  /// Throws if a word of the command line is not UTF-8. As a string it would name another file.
  private static func checkEncoding() throws(Failure) {
    for case let word? in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
      .dropFirst()
    where String(validatingCString: word) == nil {
      throw Failure(
        .usage, "\(String(cString: word)) is not UTF-8; if it names a file or folder, rename that")
    }
  }

  /// Ends the process with `_exit`. `exit` would wait for the threads of libraries, and those of OpenBLAS never end if
  /// the system refuses them memory. Pinna needs no exit handlers.
  static func end(_ status: Int32) -> Never {
    fflush(nil)
    _exit(status)
  }

  /// The text of, for example, `pinna preset --help`.
  private static func help(forFamily words: [String]) -> String? {
    ["--help", "-h"].contains(words[1]) ? help(forFamily: words[0]) : nil
  }

  private static func help(forFamily word: String) -> String? {
    let family = verbs.filter { $0.name.hasPrefix(word + " ") }
    return family.isEmpty ? nil : family.map(\.help).joined(separator: "\n\n")
  }

  /// The text of `pinna help VERB`, for one verb or for a family such as `preset`.
  static func help(for words: [String]) throws(Failure) -> String {
    if words.count == 1, let help = help(forFamily: words[0]) { return help }
    let (verb, rest) = try find(words)
    guard rest.isEmpty else { throw Failure(.usage, "pinna help takes one verb; see: pinna help") }
    return verb.help
  }

  /// The possible first words after `pinna`.
  static var firstWords: [String] {
    verbs.map { $0.name.split(separator: " ").map(String.init)[0] }.reduce(into: []) {
      if $0.last != $1 { $0.append($1) }
    }
  }

  /// The possible words after the first word of a family, such as "start" and "stop" after "record".
  static func secondWords(of word: String) -> [String] {
    verbs.map(\.name).filter { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
  }

  /// Finds the verb at the start of `words`, which has one or two words, and returns it with the remaining words.
  private static func find(_ words: [String]) throws(Failure) -> (Verb, [String]) {
    if let verb = verbs.first(where: { $0.name == words[0] }) { return (verb, Array(words.dropFirst())) }
    let pair = words.prefix(2).joined(separator: " ")
    if let verb = verbs.first(where: { $0.name == pair }) { return (verb, Array(words.dropFirst(2))) }
    let known = secondWords(of: words[0])
    if known.isEmpty {
      if words[0].hasPrefix("-") {
        throw Failure(
          .usage, "\(words[0].printable(limit: 40)) comes before the verb; write: pinna VERB [options]")
      }
      throw Failure(.usage, UnknownWord(kind: "verb", word: words[0], choices: firstWords).description)
    }
    let typed =
      words.count > 1
      ? "unknown word \(words[1].quoted) after pinna \(words[0])\(didYouMean(words[1], among: known))"
      : "pinna \(words[0]) is incomplete"
    throw Failure(.usage, "\(typed); use one of: \(known.joined(separator: ", "))")
  }

  /// Writes results to standard output, unbuffered.
  static func say(_ text: String) {
    WorkProgress.endLine()
    Output.say(text)
  }

  /// Writes a JSON document to standard output.
  static func say(json: String) {
    WorkProgress.endLine()
    Output.say(json: json)
  }

  /// Writes an error or a progress message to standard error.
  static func complain(_ sentence: String) {
    WorkProgress.endLine(hasTold: true)
    Output.complain(sentence)
  }
}
