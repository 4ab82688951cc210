import Control
import Foundation
import LiveSupport
import Messages
import Settings
import TestSupport
import Testing

/// A UDP socket in a home of its own, served by the test.
@Suite("The UDP socket") struct UDPSocketTests {
  let home: PinnaHome
  let socket: UDPSocket
  let token: String
  let sender: UDPSender

  init() throws {
    home = try PinnaHome()
    try RuntimeFolder.prepare(environment: home.environment)
    socket = try UDPSocket(name: "pinna", port: 0, environment: home.environment)
    token = try String(contentsOfFile: home.runtimeFolder + "/pinna/pinna.token", encoding: .utf8)
      .trimmingCharacters(in: .newlines)
    sender = UDPSender(port: UInt16(socket.address.description.split(separator: ":")[1])!)
  }

  /// Serves what has arrived: subscriptions and echoes.
  /// - Returns: the paths of the requests.
  @discardableResult
  func serve(now: ContinuousClock.Instant = .now) throws -> [String] {
    var paths: [String] = []
    while let (message, from) = socket.receive(now: now) {
      paths.append(message.path)
      if message.path == "/pinna/subscribe" { try socket.subscribe(from, to: .state, levelsPerSecond: 1) }
      socket.send(OSCMessage("/pinna/reply", [.integer(0), .string(message.words.joined())]), to: from)
    }
    return paths
  }

  func subscribe() throws {
    sender.send("/pinna/subscribe", .string(token))
    try serve()
    try #require(sender.message(seconds: 1)?.words == ["0", token])
  }

  @Test(
    "the token file has mode 0600 and a new token at each start, replaces a link, and is removed at the end")
  func tokenFile() throws {
    let path = home.runtimeFolder + "/pinna/pinna.token"
    var file = stat()
    #expect(lstat(path, &file) == 0 && file.st_mode & 0o7777 == 0o600)
    #expect(token.wholeMatch(of: #/[0-9a-f]{32}/#) != nil)
    #expect(socket.announcement.contains(token) && socket.announcement.contains(path))
    let target = try home.folder.write("mine", to: "target")
    unlink(path)
    try #require(symlink(target, path) == 0)
    let other = try UDPSocket(name: "pinna", port: 0, environment: home.environment)
    #expect(lstat(path, &file) == 0 && file.st_mode & S_IFMT == S_IFREG)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
    #expect(!other.announcement.contains(token))
    other.leave("Pinna was stopped")
    #expect(access(path, F_OK) != 0)
  }

  @Test(
    "the token file is made again, with the same token, when it was removed or replaced, unless the name is another's"
  )
  func restoredToken() throws {
    let path = home.runtimeFolder + "/pinna/pinna.token"
    func text() -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
    func restore(_ seconds: Double, owned: Bool = true) {
      socket.restore(ownsName: owned, now: .now + .seconds(seconds))
    }
    unlink(path)
    restore(0.5)
    restore(2, owned: false)
    #expect(text() == nil)
    restore(4)
    var file = stat()
    #expect(text() == token + "\n" && lstat(path, &file) == 0 && file.st_mode & 0o7777 == 0o600)
    unlink(path)
    try home.folder.write("another", to: "runtime/pinna/pinna.token")
    restore(6)
    #expect(text() == token + "\n" && socket.obstacle == nil)
    unlink(path)
    try FileManager.default.createDirectory(atPath: path + "/folder", withIntermediateDirectories: true)
    restore(8)
    #expect(socket.obstacle?.description.contains("\(path): ") == true)
    try FileManager.default.removeItem(atPath: path)
    restore(10)
    #expect(text() == token + "\n" && socket.obstacle == nil)
  }

  @Test(
    "feedback and answers go to the port that a subscriber names, on its own host; Pinna's own port is refused"
  )
  func otherPort() throws {
    let tablet = UDPSender(port: 9)
    sender.send("/pinna/subscribe", .string(token))
    let (_, from) = try #require(socket.receive())
    try socket.subscribe(from, to: .state, levelsPerSecond: 1, port: tablet.ownPort)
    socket.publish(state: [OSCMessage("/pinna/record", [.integer(0)])], levels: [])
    #expect(tablet.message(seconds: 1)?.path == "/pinna/record" && sender.packet(seconds: 0.1) == nil)
    sender.send("/pinna/echo", .string("#1"))
    let (_, again) = try #require(socket.receive())
    socket.send(OSCMessage("/pinna/reply", [.integer(0), .string("x")]), to: again)
    #expect(sender.message(seconds: 1)?.words == ["0", "x", "#1"])
    #expect(tablet.message(seconds: 1)?.words == ["0", "x", "#1"])
    // It only hears.
    tablet.send("/pinna/status")
    let port = UInt16(socket.address.description.split(separator: ":")[1])!
    UDPSender(port: port).send("/pinna/status")
    #expect(socket.receive() == nil)
    let own = #expect(throws: Failure.self) {
      try socket.subscribe(from, to: .state, levelsPerSecond: 1, port: port)
    }
    #expect(own?.status == .usage && own?.description.contains("\(port)") == true)
  }

  @Test("only loopback is free of a warning, and a name or a taken port is refused in a sentence")
  func addresses() throws {
    #expect(socket.warning == nil)
    let everywhere = try UDPSocket(name: "b", host: "0.0.0.0", port: 0, environment: home.environment)
    #expect(everywhere.warning?.contains("network") == true)
    let port = UInt16(socket.address.description.split(separator: ":")[1])!
    let taken = #expect(throws: Failure.self) {
      _ = try UDPSocket(name: "c", port: port, environment: home.environment)
    }
    #expect(taken?.description.contains("--osc-port") == true)
    #expect(access(home.runtimeFolder + "/pinna/c.token", F_OK) != 0)
    #expect(throws: Failure.self) {
      _ = try UDPSocket(name: "d", host: "localhost", port: 0, environment: home.environment)
    }
  }

  @Test("packets of strangers are dropped without an answer: requests, wrong tokens, bundles, malformed ones")
  func strangers() throws {
    let packets: [[UInt8]] = [
      OSCMessage("/pinna/status").packet, OSCMessage("/pinna/subscribe").packet,
      OSCMessage("/pinna/subscribe", [.string(String(repeating: "0", count: 32))]).packet,
      OSCMessage("/pinna/subscribe", [.string(token + "0")]).packet,
      OSCMessage("/pinna/subscribe/x", [.string(token)]).packet, Array("hello".utf8), [],
      Array("#bundle\0\0\0\0\0\0\0\0\u{1}".utf8), Array(repeating: 0xFF, count: 60_000),
      Array("/pinna/subscribe\0\0\0\0,s\0\0abc".utf8),
    ]
    for packet in packets { sender.send(packet) }
    #expect(try serve() == [])
    #expect(sender.packet(seconds: 0.2) == nil)
    #expect(socket.droppedPackets == packets.count)
  }

  @Test("a subscriber is heard; a wrong token neither renews nor is answered; silence after ten seconds")
  func subscription() throws {
    try subscribe()
    sender.send("/pinna/echo", .string("a"), .string("#1"))
    #expect(try serve() == ["/pinna/echo"] && sender.message(seconds: 1)?.words == ["0", "a", "#1"])
    sender.send("/pinna/subscribe", .string("wrong"))
    #expect(try serve() == [] && sender.packet(seconds: 0.1) == nil)
    sender.send("/pinna/echo", .string("late"))
    #expect(try serve(now: .now + .seconds(10.1)) == [] && sender.packet(seconds: 0.1) == nil)
    let stranger = UDPSender(port: UInt16(socket.address.description.split(separator: ":")[1])!)
    stranger.send("/pinna/echo", .string("b"))
    #expect(try serve() == [] && stranger.packet(seconds: 0.1) == nil)
  }

  @Test("a malformed packet of a subscriber gets one error, and a bundle one reply per message")
  func bundles() throws {
    try subscribe()
    sender.send(Array("hello".utf8))
    try serve()
    let error = try #require(sender.message(seconds: 1))
    #expect(error.words.first == "2" && sender.packet(seconds: 0.1) == nil)
    let parts = ["#1", "#2"].map { OSCMessage("/pinna/echo", [.string("x"), .string($0)]).packet }
    let sized = parts.flatMap { withUnsafeBytes(of: UInt32($0.count).bigEndian) { Array($0) } + $0 }
    sender.send(Array("#bundle\0\0\0\0\0\0\0\0\u{1}".utf8) + sized)
    #expect(try serve().count == 2)
    #expect((0..<2).map { _ in sender.message(seconds: 1)?.words } == [["0", "x", "#1"], ["0", "x", "#2"]])
  }

  @Test(
    "an answer of more than 1400 bytes becomes a sentence that names the Unix socket, with its status if it failed"
  )
  func longAnswers() throws {
    try subscribe()
    for (status, expected) in [(Int32(0), "1"), (2, "2")] {
      for count in [1300, 2000] {
        sender.send("/pinna/echo", .string("#9"))
        let (_, from) = try #require(socket.receive())
        let text = String(repeating: "a", count: count)
        socket.send(OSCMessage("/pinna/reply", [.integer(status), .string(text)]), to: from)
        let packet = try #require(sender.packet(seconds: 1))
        let words = try #require(OSCMessage(packet: packet)).words
        #expect(packet.count <= 1400 && words.last == "#9")
        #expect(words[0] == (count == 1300 ? "\(status)" : expected))
        #expect(count == 1300 || words[1].contains(home.runtimeFolder + "/pinna/pinna.sock"))
      }
    }
  }

  @Test("one turn reads at most 16 packets of strangers")
  func turns() throws {
    for _ in 0..<40 { sender.send("/pinna/status") }
    #expect(socket.receive() == nil && socket.droppedPackets == 16)
  }
}
