import Foundation
import LiveSupport
import Messages
import Settings
import TestSupport
import Testing

@Suite("The control socket between two processes") struct ControlSocketTests {
  @Test("R33: an answer ends with its request's number, so that two requests on one socket can be told apart")
  func numbers() throws {
    let peer = try PeerHome()
    let sender = try peer.sender()
    sender.send("/peer/late", "300", "first", "#1")
    sender.send("/peer/echo", "second", "#2")
    let heard = (0..<2).map { _ in sender.message(seconds: 5)?.words }
    #expect(heard == [["0", "second", "#2"], ["0", "first", "#1"]])
  }

  @Test("an answer of a million bytes arrives whole")
  func largeAnswer() throws {
    let peer = try PeerHome()
    let outcome = try peer.run("call", "/peer/letters", "1000000")
    #expect(outcome.status == 0 && outcome.output.count == 1_000_001)
  }

  @Test("a signal that interrupts a wait does not end it")
  func interrupted() throws {
    let peer = try PeerHome()
    let outcome = try peer.run("alarmed", "/peer/late", "300", "answered")
    #expect(outcome.status == 0 && outcome.output == "answered\n", "\(outcome)")
  }

  @Test("a waiting client learns within a second that the server was killed")
  func killed() throws {
    let peer = try PeerHome()
    let client = try peer.start("call", "/peer/nothing")
    #expect(waitUntil(seconds: 5) { peer.server.outputText.contains("/peer/nothing") })
    peer.server.signal(SIGKILL)
    let outcome = try #require(client.wait(seconds: 1), "it still waits")
    #expect(outcome.status == ExitStatus.notRunning.rawValue, "\(outcome)")
  }

  @Test("without a running Pinna, the error names the folder searched, with status 4")
  func nobody() throws {
    let home = try PinnaHome()
    let outcome = try Program.run(
      try PinnaHome.built("peer"), ["call", "/peer/echo"], environment: home.environment)
    #expect(outcome.status == ExitStatus.notRunning.rawValue, "\(outcome)")
    #expect(outcome.output.contains(home.runtimeFolder + "/pinna"), "\(outcome)")
  }

  @Test("a Pinna that says it has stopped but keeps its name is reported within seconds", .long)
  func keepsItsName() throws {
    let peer = try PeerHome()
    let start = ContinuousClock.now
    let outcome = try peer.home.pinna("stop", seconds: 30)
    #expect(outcome.status == 1 && outcome.isOneSentence, "\(outcome)")
    #expect(outcome.error.contains("has stopped") && outcome.error.contains("name"), "\(outcome)")
    #expect(ContinuousClock.now - start < .seconds(15))
  }

  @Test("the type tags T and F are on and off, and N and I are ignored", arguments: ["TF", "NTIF"])
  func wordTags(tags: String) throws {
    let peer = try PeerHome()
    let sender = try peer.sender()
    sender.send(Self.packet("/peer/echo", tags))
    #expect(sender.reply(seconds: 2)?.text == "on off")
  }

  @Test(
    "a malformed message is counted and answered with the correct usage",
    arguments: [
      packet("/peer/echo", "t", [UInt8](repeating: 0, count: 8)), packet("/peer/echo", "[i]", [0, 0, 0, 1]),
      Array("#bundle\0\0\0\0\0\0\0\0\u{1}".utf8), Array("hello".utf8), [],
    ])
  func malformed(packet: [UInt8]) throws {
    let peer = try PeerHome()
    let sender = try peer.sender()
    sender.send(packet)
    let reply = try #require(sender.reply(seconds: 2))
    #expect(reply.status == ExitStatus.usage.rawValue && !reply.text.contains("\n"))
    sender.send("/peer/dropped")
    #expect(sender.reply(seconds: 2)?.text == "1")
  }

  /// A message with these type tags and this data.
  static func packet(_ path: String, _ tags: String, _ data: [UInt8] = []) -> [UInt8] {
    [path, "," + tags].flatMap { text in
      let bytes = Array(text.utf8)
      return bytes + [UInt8](repeating: 0, count: 4 - bytes.count % 4)
    } + data
  }

  @Test(
    "only the owner may use the folder, the lock and the socket, whatever the umask", arguments: ["0", "777"])
  func modes(mask: String) throws {
    let home = try PinnaHome()
    let script = "umask \(mask); exec '\(try PinnaHome.built("peer"))' serve"
    let server = try Program("/bin/sh", ["-c", script], environment: home.environment)
    try #require(waitUntil(seconds: 10) { server.outputText.contains("ready") }, "\(server.errorText)")
    for (name, mode) in [("", 0o700), ("/pinna.sock", 0o600), ("/pinna.sock.lock", 0o600)] {
      var file = stat()
      #expect(stat(home.runtimeFolder + "/pinna" + name, &file) == 0)
      #expect(Int(file.st_mode & 0o777) == mode, "\(name)")
    }
  }
}
