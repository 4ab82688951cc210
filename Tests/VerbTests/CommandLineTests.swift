import Foundation
import LiveSupport
import Testing

@Suite("The command line") struct CommandLineTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  @Test("the overview has every verb under one of six headings, on one screen")
  func overview() throws {
    let overview = try home.pinna("help").output
    #expect(try home.pinna("--help").output == overview)
    let lines = overview.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(lines.count <= 40 && lines.allSatisfy { $0.count <= 80 }, "\(lines.count)")
    #expect(lines.count { !$0.hasPrefix(" ") && !$0.isEmpty } == 2 + 6)
    let table = try home.pinna("help", "--markdown", "verbs").output
    let verbs = table.matches(of: /(?m)^\| `pinna ([a-z]+(?: [a-z]+)?)/).map(\.1)
    #expect(verbs.count >= 40)
    for verb in verbs where verb != "help" {
      let words = verb.split(separator: " ")
      let found = lines.filter { $0.hasPrefix("  \(words[0]) ") }
      #expect(found.count == 1 && words.allSatisfy { found[0].contains($0) }, "\(verb)")
    }
  }

  @Test(
    "help explains a verb or a family of verbs as --help does", arguments: ["run", "preset use", "preset"])
  func help(verb: String) throws {
    let words = verb.split(separator: " ").map(String.init)
    let help = try home.pinna(["help"] + words)
    #expect(help.status == 0 && help.output.contains("usage: pinna \(verb)"), "\(help)")
    #expect(try home.pinna(words + ["--help"]).output == help.output)
  }

  @Test(
    "a misspelt word gets a suggestion, an unknown one does not",
    arguments: [
      (["recrod", "start"], "unknown verb \"recrod\" (did you mean record?); use one of: demo, "),
      (["record", "strat"], "(did you mean start?); use one of: start, stop"),
      (["run", "--prest", "phone5"], "has no option --prest (did you mean --preset?)"),
      (["render", "a", "b", "--preset", "phnoe5"], "there is no preset \"phnoe5\" (did you mean phone5?)"),
      (["render", "a", "b", "--preset", "phone6"], "there is no preset \"phone6\"; use one of"),
      (["banana"], "unknown verb \"banana\"; use one of: "),
    ])
  func didYouMean(words: [String], sentence: String) throws {
    let outcome = try home.pinna(words)
    #expect([1, 2].contains(outcome.status) && outcome.error.contains(sentence), "\(outcome)")
    #expect(outcome.error.count { $0 == "\n" } == 1)
  }

  @Test("numbers may have their unit behind them")
  func units() throws {
    let home = try VerbHome()
    for words in [
      ["--gain", "-3dB"], ["--gain", "3 db"], ["--high-pass", "80Hz"], ["--high-pass", "80 Hz"],
      ["--look", "60°,-10°"],
      ["--roll", "5deg"], ["--yaw", "-15 degrees"],
    ] {
      // Understood, and nobody is there.
      let outcome = try home.pinna(["set"] + words)
      #expect(outcome.status == 4, "\(outcome)")
    }
    for words in [["--gain", "3Hz"], ["--high-pass", "Hz"], ["--gain", "3 d B"], ["--look", "60°°"]] {
      let outcome = try home.pinna(["set"] + words)
      #expect(outcome.status == 2, "\(outcome)")
    }
  }

  @Test(
    "run refuses to connect and not to connect at once",
    arguments: [["--connect"], ["--connect", "outputs"], ["--connect-from", "x"]])
  func contradiction(words: [String]) throws {
    let outcome = try home.pinna(["run", "--no-connect"] + words)
    #expect(outcome.status == 2 && outcome.isOneSentence && outcome.error.contains("exclude"), "\(outcome)")
  }

  @Test("a .yml file is read unless a .yaml file of the same name exists")
  func yml() throws {
    try home.home.folder.write("title: Short\ndevice: pair\n", to: "config/pinna/short.yml")
    #expect(try home.pinna("preset", "show", "short").output.contains("Short"))
    try home.home.folder.write("title: Long\ndevice: pair\n", to: "config/pinna/short.yaml")
    let outcome = try home.pinna("preset", "show", "short")
    #expect(outcome.output.contains("Long"), "\(outcome)")
    #expect(try home.pinna("preset", "list").error.contains("short.yml; remove it, because short.yaml"))
  }

  @Test(
    "completion offers verbs, options, presets and values, and leaves files to the shell",
    arguments: [
      (["re"], ["record", "render", "report"]), (["record", ""], ["marker", "start", "stop", "title"]),
      (["set", "--pat"], ["--pattern"]), (["set", "--pattern", "sub"], ["subcardioid"]),
      (["preset", "use", "phone"], ["phone2", "phone3", "phone4", "phone5"]),
      (["run", "--preset", "ri"], ["ring7"]), (["set", "--mute", ""], ["on", "off"]),
      (["help", "tak"], ["takes"]), (["play", "x"], []), (["nosuch", ""], []),
    ])
  func candidates(words: [String], expected: [String]) throws {
    let outcome = try home.pinna(["--complete"] + words)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(outcome.status == 0 && Set(lines) == Set(expected) && lines.count == expected.count, "\(outcome)")
  }

  private static func isInstalled(_ program: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\(program)")
  }

  @Test(
    "the shells that are installed complete with the scripts that help prints",
    arguments: [
      (
        "bash", "-c",
        """
        eval "$("$1" help --completions bash)"
        COMP_WORDS=("$1" set --pattern card); COMP_CWORD=3; _pinna; echo "${COMPREPLY[*]}"
        """, "cardioid\n"
      ),
      (
        "fish", "-c",
        "set -x PATH $PINNA $PATH; pinna help --completions fish | source; complete -C 'pinna set --pattern card'",
        "cardioid\n"
      ),
      (
        "zsh", "-fc",
        "autoload -U compinit; compinit -u -D; eval \"$(\"$1\" help --completions zsh)\"; echo $_comps[pinna]",
        "_pinna\n"
      ),
    ].filter { isInstalled($0.0) })
  func completion(shell: String, option: String, script: String, expected: String) throws {
    let program = try PinnaHome.binary()
    let folder = URL(filePath: program).deletingLastPathComponent().path
    let outcome = try Program.run(
      "/usr/bin/" + shell, [option, script] + (shell == "fish" ? [] : [shell, program]),
      environment: home.home.environment.merging(["PINNA": folder]) { $1 })
    #expect(outcome.output == expected, "\(outcome)")
  }

  @Test(
    "the manual page has every verb and option, and groff accepts it without warnings",
    .enabled(if: isInstalled("groff"), "groff is not installed"))
  func manual() throws {
    let page = try home.home.folder.write(try home.pinna("help", "--man").output, to: "pinna.1")
    let outcome = try Program.run("/usr/bin/groff", ["-man", "-Tutf8", "-ww", "-P-c", page])
    #expect(outcome.status == 0 && outcome.error == "", "\(outcome)")
    for word in [
      "record start", "--split-minutes MINUTES", "pinna - data sources", "Known, but not supported",
    ] {
      #expect(outcome.output.replacing(#/.\u{8}/#, with: "").contains(word), "\(word)")
    }
  }
}
