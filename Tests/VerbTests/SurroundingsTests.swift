import Foundation
import LiveSupport
import TestSupport
import Testing

/// Limits, folders, terminals and signals at the start of the tool.
@Suite("Unusual environments") struct SurroundingsTests {
  let home: VerbHome
  init() throws { home = try VerbHome(hasFilters: false) }

  func shell(_ script: String, environment: [String: String] = [:], seconds: Double = 30) throws
    -> Program.Outcome
  {
    try Program.run(
      "/bin/sh", ["-c", script, try PinnaHome.binary()],
      environment: home.home.environment.merging(environment) { $1 }, seconds: seconds)
  }

  @Test(
    "the tool ends even with too little memory for its libraries' threads",
    .enabled(if: access("/usr/bin/prlimit", X_OK) == 0, "there is no prlimit"))
  func littleMemory() throws {
    for megabytes in [200, 250] {
      // Any verb: the exit of the process used to hang.
      let outcome = try shell("exec prlimit --as=\(megabytes << 20) \"$0\" preset list")
      #expect(outcome.status >= 0, "\(megabytes) MB: \(outcome)")
    }
  }

  @Test("too low a limit of open files is reported, and the tool ends", arguments: [4, 8, 16, 22, 40])
  func fewDescriptors(count: Int) throws {
    let outcome = try shell("ulimit -n \(count); exec \"$0\" preset list")
    #expect(
      outcome.status == 1 && outcome.isOneSentence && outcome.error.contains("ulimit -n"),
      "\(outcome)")
  }

  @Test("a relative takes folder is refused if the working folder was removed")
  func removedFolder() throws {
    let outcome = try shell(
      "cd '\(home.path)' && mkdir gone && cd gone && rmdir ../gone && exec \"$0\" record start --dir takes")
    #expect(outcome.status == 1 && outcome.isOneSentence, "\(outcome)")
    #expect(outcome.error.contains("the current folder was removed"), "\(outcome)")
  }

  @Test(
    "output in the background of a terminal with tostop does not stop the tool",
    .enabled(if: access("/usr/bin/script", X_OK) == 0 && access("/bin/bash", X_OK) == 0))
  func background() throws {
    let script = """
      stty tostop; set -m
      "\(try PinnaHome.binary())" preset list & pid=$!
      for n in $(seq 50); do
        sleep 0.1
        state=$(sed -n 's/^State:.\\(.\\).*/\\1/p' /proc/$pid/status 2>/dev/null)
        case "$state" in T) kill -KILL $pid; echo STOPPED; exit;; ""|Z) echo ENDED; exit;; esac
      done
      kill -KILL $pid
      """
    let file = try home.home.folder.write(script, to: "background.sh")
    let outcome = try Program.run(
      "/usr/bin/script", ["-qec", "bash \(file)", "/dev/null"], environment: home.home.environment,
      seconds: 30)
    #expect(outcome.output.contains("ENDED") && !outcome.output.contains("STOPPED"), "\(outcome)")
  }

  @Test("a run ignores HUP and USR1 from its first statement on, and obeys them later")
  func earlySignals() throws {
    /// The signals that do not end the process: those ignored or caught.
    func harmless(_ pid: Int32) -> UInt64? {
      let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
      let masks = text.split(separator: "\n").filter {
        $0.hasPrefix("SigIgn:") || $0.hasPrefix("SigCgt:")
      }
      .compactMap { UInt64($0.split(separator: "\t").last ?? "", radix: 16) }
      return masks.count == 2 ? masks[0] | masks[1] : nil
    }
    func bit(_ signal: Int32) -> UInt64 { 1 << UInt64(signal - 1) }
    // The first statement ignores SIGXFSZ.
    var sawBeginning = false
    for _ in 0..<5 {
      let program = try Program(
        try PinnaHome.binary(), ["run", "--wait", "60", "--server", "pinna-none-\(getpid())"],
        environment: home.home.environment)
      var early: UInt64?
      _ = waitUntil(seconds: 2, every: 0) {
        guard let mask = harmless(program.pid), mask & bit(SIGXFSZ) != 0 else { return false }
        sawBeginning = true
        early = early ?? (mask & bit(SIGHUP) == 0 || mask & bit(SIGUSR1) == 0 ? mask : nil)
        return mask & bit(SIGTERM) != 0
      }
      #expect(early == nil, "harmless at first: \(String(early ?? 0, radix: 16))")
      program.signal(SIGHUP)
      program.signal(SIGUSR1)
      usleep(100_000)
      #expect(program.isRunning, "\(program.errorText)")
      program.stop()
    }
    #expect(sawBeginning)
  }

  @Test("a word of the command line that is not UTF-8 is refused in one sentence, and nothing is written")
  func otherEncodings() throws {
    for words in [
      #"render --preset pair $'mics\xe9.wav' o.wav"#, #"render --preset pair m.wav $'out\xe9.wav'"#,
      #"takes list --dir $'\xe9'"#, #"takes edit m.wav --title $'\xe9t\xe9'"#, #"$'\xff'"#,
    ] {
      let outcome = try home.shell("mkdir -p w && cd w && $PINNA \(words)")
      #expect(outcome.status == 2 && outcome.isOneSentence, "\(words): \(outcome)")
      #expect(outcome.error.contains("is not UTF-8") && home.contents("w").isEmpty, "\(outcome)")
    }
    let folder = try home.shell("mkdir $'\\xe9' && cd $'\\xe9' && $PINNA record start --dir takes")
    #expect(folder.status == 1 && folder.isOneSentence, "\(folder)")
    #expect(folder.error.contains("is not UTF-8"), "\(folder)")
  }

  @Test(
    "a terminal that is closed does not have the preset loaded again; kill -HUP does, before and after",
    .enabled(if: access("/usr/bin/script", X_OK) == 0))
  func closedTerminal() throws {
    let server = "pinna-none-\(getpid())"
    let terminal = try Program(
      "/usr/bin/script",
      [
        "-qec",
        "cd \(home.path); echo $$ >pid; "
          + "exec \(try PinnaHome.binary()) run --wait 60 --server \(server) >status 2>texts",
        "/dev/null",
      ], environment: home.home.environment)
    func text(_ file: String) -> String {
      (try? String(contentsOfFile: home.path + "/" + file, encoding: .utf8)) ?? ""
    }
    func pid() -> Int32? { Int32(text("pid").dropLast()) }
    // Before Pinna has its socket, USR1 may end it, or the shell.
    let socket = home.home.runtimeFolder + "/pinna/pinna.sock"
    try #require(waitUntil(seconds: 20) { pid() != nil && FileManager.default.fileExists(atPath: socket) })
    let run = try #require(pid())
    defer { kill(run, SIGKILL) }
    kill(run, SIGUSR1)
    try #require(waitUntil(seconds: 20) { text("status").contains("{") })
    kill(run, SIGHUP)
    // Without a server, every attempt says so.
    func attempts() -> Int { text("texts").components(separatedBy: "was not reloaded").count - 1 }
    #expect(waitUntil(seconds: 10) { attempts() == 1 }, "\(text("texts"))")
    let closed = ContinuousClock.now
    kill(terminal.pid, SIGKILL)
    // For a second, signals may be the terminal's.
    let isAsked = waitUntil(seconds: 20, every: 50) {
      if .now - closed > .milliseconds(500) { kill(run, SIGHUP) }
      return attempts() > 1
    }
    #expect(isAsked && .now - closed > .seconds(1), "\(text("texts"))")
  }
}
