import Foundation
import LiveSupport
import Testing

/// Operands and values that look like something else, and those that are empty.
@Suite("Words of the command line") struct OperandTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  /// No Pinna runs: a request that is understood has status 4.
  @Test(
    "after -- every word is an operand, also one that begins with a hyphen or is an option's name",
    arguments: [
      ["record", "marker", "--", "-3 dB"], ["record", "title", "--", "--help"],
      ["record", "title", "--", "-h"],
      ["record", "title", "--name", "nosuch", "--", "-"], ["preset", "use", "--", "-x"],
      ["record", "marker", "--"],
      ["record", "marker", "--", "--"],
    ])
  func endOfOptions(words: [String]) throws {
    let outcome = try home.pinna(words)
    #expect(outcome.status == 4 && outcome.isOneSentence, "\(outcome)")
  }

  @Test("a word that begins with a hyphen and is no option is refused with the way to write it")
  func hyphen() throws {
    let outcome = try home.pinna("record", "marker", "-3 dB")
    #expect(outcome.status == 2 && outcome.error.contains("write -- before"), "\(outcome)")
    let tooMany = try home.pinna("record", "marker", "--", "a", "b")
    #expect(tooMany.status == 2, "\(tooMany)")
  }

  @Test("titles and markers may be empty, or begin with a tilde")
  func text() throws {
    for words in [["title", ""], ["marker", ""], ["title", "~5 dB"], ["marker", "~"]] {
      let outcome = try home.pinna(["record"] + words)
      #expect(outcome.status == 4, "\(outcome)")
    }
  }

  @Test(
    "an empty operand or value is refused by its name",
    arguments: [
      (["play", ""], "[TAKE]"), (["render", "", "out.wav"], "MICS.wav"), (["preset", "use", ""], "NAME"),
      (["status", "--name", ""], "--name"), (["detect", "--server", ""], "--server"),
      (["run", "--server="], "--server"), (["run", "--connect-from", ""], "--connect-from"),
      (["record", "start", "--dir", ""], "--dir"), (["simulate", "", "x.wav"], "SCENE.yaml"),
    ])
  func empty(words: [String], name: String) throws {
    let outcome = try home.pinna(words)
    #expect(outcome.status == 2 && outcome.isOneSentence && outcome.error.contains("\(name)"), "\(outcome)")
    #expect(outcome.error.contains("is empty"), "\(outcome)")
  }

  @Test("a scene that is not there is answered with the path of one that is")
  func scene() throws {
    let outcome = try home.pinna("simulate", home.path + "/no.yaml", home.path + "/x.wav")
    let example = try #require(outcome.error.firstMatch(of: /such as (\/.*\.yaml)/)?.output.1, "\(outcome)")
    #expect(outcome.status == 1 && access(String(example), R_OK) == 0, "\(outcome)")
  }
}
