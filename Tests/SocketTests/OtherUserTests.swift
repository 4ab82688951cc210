import Control
import Foundation
import LiveSupport
import Messages
import Settings
import TestSupport
import Testing

/// Attacks by another account on the same machine.
@Suite("Another local user", .enabled(if: getuid() == 0, "only root can become another user"))
struct OtherUserTests {
  /// Whether root may create a network namespace here; some containers forbid it.
  static let canIsolate = (try? Program.run("/usr/bin/unshare", ["-n", "/bin/true"]))?.status == 0
  static let cannotIsolate: Comment = "no network namespace can be made here (unshare -n)"

  /// Runs a shell script in its own network namespace, isolated from other abstract sockets.
  func runIsolated(_ script: String, in home: PinnaHome) throws -> Program.Outcome {
    let path = try home.folder.write("peer='\(try PinnaHome.built("peer"))'\n" + script, to: "script")
    return try Program.run("/usr/bin/unshare", ["-n", "/bin/sh", path], environment: home.environment)
  }

  static let awaitWord = """
    await() { for n in $(seq 500); do grep -q "$1" "$2" && return; sleep 0.02; done; echo "no $1"; }
    cd "$XDG_RUNTIME_DIR/.." || exit
    "$peer" serve >served & server=$!
    await ready served
    "$peer" forge >forged & forger=$!
    await forging forged

    """

  @Test(
    "R32: none of 40 calls accepts a forged answer of another user", .enabled(if: canIsolate, cannotIsolate))
  func answers() throws {
    let home = try PinnaHome()
    let outcome = try runIsolated(
      Self.awaitWord + """
        for n in $(seq 40); do "$peer" call /peer/echo genuine $n; echo "status $?"; done
        kill $server $forger
        """, in: home)
    let genuine = (1...40).map { "genuine \($0)\nstatus 0\n" }
    let lines = outcome.output.split(separator: "\n")
    let wrong = 40 - zip(lines, lines.dropFirst()).count { $0.hasPrefix("genuine ") && $1 == "status 0" }
    #expect(outcome.output == genuine.joined(), "\(outcome)")
    Faults.report(
      "R32", done: "another user answers 40 calls: wrong answers", measured: "\(wrong)", limit: "0",
      kept: wrong == 0)
  }

  @Test(
    "R32: a session ignores events of another user", .enabled(if: canIsolate, cannotIsolate))
  func events() throws {
    let home = try PinnaHome()
    let outcome = try runIsolated(
      Self.awaitWord + """
        "$peer" listen >heard & listener=$!
        await listening heard
        kill $forger
        "$peer" call /peer/event genuine >answered
        "$peer" forge >forged & forger=$!
        sleep 0.3
        kill $forger
        "$peer" call /peer/event last >answered
        wait $listener
        kill $server
        cat heard
        """, in: home)
    #expect(outcome.output == "listening\ntakeBegan genuine\ntakeBegan last\n", "\(outcome)")
    let forged = outcome.output.split(separator: "\n").count { $0.hasSuffix("forged") }
    Faults.report(
      "R32", done: "another user sends events: believed", measured: "\(forged)", limit: "0",
      kept: forged == 0)
  }

  @Test("another user who looks for a Pinna in our folder is told that it cannot be entered, with status 4")
  func closedFolder() throws {
    let peer = try PeerHome()
    let outcome = try Program.run(
      "/usr/bin/setpriv",
      [
        "--reuid=65534", "--regid=65534", "--clear-groups", try PinnaHome.built("peer"), "call", "/peer/echo",
      ],
      environment: peer.home.environment)
    #expect(outcome.status == 4, "\(outcome)")
    #expect(
      outcome.output.contains("\(peer.home.runtimeFolder)/pinna cannot be entered (Permission denied)"),
      "\(outcome)")
  }

  @Test("R32: another user's connection is refused and counted, even where the files' modes let it in")
  func requests() throws {
    let peer = try PeerHome()
    for (path, mode) in [(peer.home.folder.path, 0o711), (peer.home.runtimeFolder, 0o711)] {
      chmod(path, mode_t(mode))
    }
    chmod(peer.home.runtimeFolder + "/pinna", 0o711)
    chmod(peer.socketPath, 0o666)
    let asked = try peer.run("ask", peer.socketPath, "/peer/stop")
    #expect(asked.output == "connected\nheard nothing\n", "\(asked)")
    chmod(peer.home.runtimeFolder + "/pinna", 0o700)
    let dropped = try peer.run("call", "/peer/dropped")
    #expect(dropped.status == 0 && dropped.output == "1\n", "\(dropped)")
    #expect(peer.server.isRunning)
    Faults.report(
      "R32", done: "another user connects to an open socket, and sends stop: obeyed",
      measured: peer.server.isRunning ? "no" : "yes", limit: "no", kept: peer.server.isRunning)
  }

  @Test("R32: a client does not talk to another user's server")
  func otherServer() throws {
    let home = try PinnaHome()
    try RuntimeFolder.prepare(environment: home.environment)
    let path = home.runtimeFolder + "/pinna/pinna.sock"
    for folder in [home.folder.path, home.runtimeFolder] { chmod(folder, 0o711) }
    chmod(home.runtimeFolder + "/pinna", 0o777)
    let server = try Program(try PinnaHome.built("peer"), ["take", path])
    try #require(waitUntil(seconds: 5) { server.outputText.contains("bound") }, "\(server.outputText)")
    chmod(home.runtimeFolder + "/pinna", 0o700)
    let outcome = try Program.run(
      try PinnaHome.built("peer"), ["call", "/peer/echo"], environment: home.environment)
    #expect(outcome.status == ExitStatus.notRunning.rawValue, "\(outcome)")
    #expect(server.outputText == "bound\n")
  }

  @Test(
    "R32: another user's folder, link or file in place of the socket's folder is reported in one sentence",
    arguments: ["folder", "link", "file"])
  func place(kind: String) throws {
    let home = try PinnaHome()
    chmod(home.runtimeFolder, 0o1777)
    let folder = home.runtimeFolder + "/pinna"
    try #require(try Program.run(try PinnaHome.built("peer"), ["own", folder, kind]).status == 0)
    expectRefusal(home, naming: folder)
  }

  @Test("R32: a runtime folder that another user owns or may rename entries of is refused")
  func parent() throws {
    for (owner, mode) in [(uid_t(65534), mode_t(0o755)), (0, 0o777)] {
      let home = try PinnaHome()
      chown(home.runtimeFolder, owner, gid_t(owner))
      chmod(home.runtimeFolder, mode)
      expectRefusal(home, naming: home.runtimeFolder)
    }
  }

  @Test(
    "R32: a disk that another user has filled under the socket's folder is reported in one sentence",
    .enabled(if: Program.canMount, "this user may not mount a small disk"))
  func full() throws {
    let home = try PinnaHome()
    let mounted = try Program.run(
      "/bin/mount", ["-t", "tmpfs", "-o", "nr_inodes=1,size=4k,mode=1777", "tmpfs", home.runtimeFolder])
    try #require(mounted.status == 0, "\(mounted)")
    defer { _ = try? Program.run("/bin/umount", [home.runtimeFolder]) }
    expectRefusal(home, naming: home.runtimeFolder)
  }

  /// Expects that neither a server nor a client starts, and that each says why in one sentence.
  func expectRefusal(_ home: PinnaHome, naming path: String, at location: SourceLocation = #_sourceLocation) {
    let refusal = #expect(throws: Failure.self, sourceLocation: location) {
      _ = try ControlSocket(name: "pinna", environment: home.environment)
    }
    let text = refusal?.description ?? ""
    #expect(refusal?.status == .failed, sourceLocation: location)
    #expect(text.contains(path) && !text.contains("\n"), "\(text)", sourceLocation: location)
    #expect(throws: Failure.self, sourceLocation: location) {
      try ControlClient(name: "pinna", environment: home.environment).request(OSCMessage("/pinna/status"))
    }
  }
}
