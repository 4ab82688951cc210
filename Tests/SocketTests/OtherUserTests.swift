import Control
import Foundation
import LiveSupport
import TestSupport
import Testing

/// Everything that somebody with another account on the machine may try.
@Suite("Another local user", .enabled(if: getuid() == 0, "only root can become another user"))
struct OtherUserTests {
  /// Whether this machine lets root have a network namespace, which some containers do not.
  static let canBeApart = (try? Program.run("/usr/bin/unshare", ["-n", "/bin/true"]))?.status == 0
  static let notApart: Comment = "no network namespace can be made here (unshare -n)"

  /// Runs a shell script in a network namespace of its own, so that nobody else's abstract sockets are sent to.
  func runApart(_ script: String, in home: PinnaHome) throws -> Program.Outcome {
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
    "R32: sends answers: none of 40 calls takes one for its own", .enabled(if: canBeApart, notApart))
  func answers() throws {
    let home = try PinnaHome()
    let outcome = try runApart(
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
    "R32: sends events: a session hears those of its Pinna alone", .enabled(if: canBeApart, notApart))
  func events() throws {
    let home = try PinnaHome()
    let outcome = try runApart(
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

  @Test("asks for a Pinna in a folder of ours: is told that it cannot be entered, with status 4")
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

  @Test("R32: sends a request, through a socket that was connected before: it is dropped, and counted")
  func requests() throws {
    let peer = try PeerHome()
    try #require(try peer.run("ask", peer.socketPath, "/peer/stop").status == 0)
    let dropped = try peer.run("call", "/peer/dropped")
    #expect(dropped.status == 0 && dropped.output == "1\n", "\(dropped)")
    #expect(peer.server.isRunning)
    Faults.report(
      "R32", done: "another user sends stop through a connected socket: obeyed",
      measured: peer.server.isRunning ? "no" : "yes", limit: "no", kept: peer.server.isRunning)
  }

  @Test("R32: sends an answer to a client through a socket that was connected before: it is passed over")
  func connectedAnswer() throws {
    let peer = try PeerHome()
    let client = try peer.start("call", "/peer/late", "1000", "genuine")
    let folder = peer.home.runtimeFolder + "/pinna/clients"
    var clients: [String] = []
    #expect(
      waitUntil(seconds: 5) {
        clients = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return !clients.isEmpty
      })
    let address = folder + "/" + (clients.first ?? "")
    // Without a number, from one of ours, it would be the end of the call.
    #expect(try peer.run("ask", address, "/pinna/reply", "forged").status == 0)
    let outcome = try #require(client.wait(seconds: 10))
    #expect(outcome.status == 0 && outcome.output == "genuine\n", "\(outcome)")
  }

  @Test(
    "R32: has made the socket's folder, a link or a file in its place: one sentence says so",
    arguments: ["folder", "link", "file"])
  func place(kind: String) throws {
    let home = try PinnaHome()
    chmod(home.runtimeFolder, 0o1777)
    let folder = home.runtimeFolder + "/pinna"
    try #require(try Program.run(try PinnaHome.built("peer"), ["own", folder, kind]).status == 0)
    expectRefusal(home, naming: folder)
  }

  @Test("R32: owns the folder that the socket's folder would be in, or may rename what is in it")
  func parent() throws {
    for (owner, mode) in [(uid_t(65534), mode_t(0o755)), (0, 0o777)] {
      let home = try PinnaHome()
      chown(home.runtimeFolder, owner, gid_t(owner))
      chmod(home.runtimeFolder, mode)
      expectRefusal(home, naming: home.runtimeFolder)
    }
  }

  @Test("R32: has filled the disk of the socket's folder: one sentence says so")
  func full() throws {
    let home = try PinnaHome()
    let mounted = try Program.run(
      "/bin/mount", ["-t", "tmpfs", "-o", "nr_inodes=1,size=4k,mode=1777", "tmpfs", home.runtimeFolder])
    try #require(mounted.status == 0, "\(mounted)")
    defer { _ = try? Program.run("/bin/umount", [home.runtimeFolder]) }
    expectRefusal(home, naming: home.runtimeFolder)
  }

  /// Neither a server nor a client starts, and each says why in one sentence.
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
