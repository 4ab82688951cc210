import Control
import Foundation
import LiveSupport
import Messages
import Synchronization
import TestSupport
import Testing

@Suite("Answers, progress, and their receivers") struct AnswerTests {
  /// Serves requests on its own thread until the test ends.
  final class Server: Sendable {
    private let ended = Atomic<Bool>(false)
    private let done = DispatchSemaphore(value: 0)

    init(
      _ home: PinnaHome,
      _ serve: @escaping @Sendable (ControlSocket, OSCMessage, ControlSocket.Sender) -> Void
    )
      throws
    {
      let ready = DispatchSemaphore(value: 0)
      let environment = home.environment
      Thread { [self] in
        let socket = try? ControlSocket(name: "pinna", environment: environment)
        ready.signal()
        while let socket, !ended.load(ordering: .acquiring) {
          if let (message, sender) = socket.receive(milliseconds: 10), let message {
            serve(socket, message, sender)
          }
        }
        done.signal()
      }.start()
      ready.wait()
    }

    func end() {
      ended.store(true, ordering: .releasing)
      done.wait()
    }
  }

  static func done(_ text: String) -> OSCMessage { OSCMessage("/pinna/reply", [.integer(0), .string(text)]) }

  @Test("progress arrives before the answer, and each report restarts the client's timeout")
  func progress() throws {
    let home = try PinnaHome()
    let server = try Server(home) { socket, _, sender in
      for n in 1...8 {
        // Two seconds in all, longer than the timeout.
        usleep(250_000)
        socket.sendProgress("designing", part: Double(n) / 8, to: sender)
      }
      socket.send(Self.done("designed"), to: sender)
    }
    defer { server.end() }
    var heard: [RequestProgress] = []
    let answer = try ControlClient(name: "pinna", environment: home.environment)
      .request(OSCMessage("/pinna/preset/use", [.string("x")]), seconds: 1.5) { heard.append($0) }
    #expect(answer == Answer(.done, "designed"))
    #expect(heard == (1...8).map { RequestProgress(text: "designing", part: Double($0) / 8) })
  }

  @Test("a request without a number gets only its answer: no progress, and nothing added")
  func plainRequest() throws {
    let home = try PinnaHome()
    let server = try Server(home) { socket, message, sender in
      socket.sendProgress("half", part: 0.5, to: sender)
      socket.send(Self.done(message.words.joined()), to: sender)
    }
    defer { server.end() }
    let sender = try ControlSender(runtimeFolder: home.runtimeFolder)
    sender.send("/pinna/echo", "a#")
    #expect(sender.message(seconds: 2) == Self.done("a#"))
    sender.send("/pinna/echo", "b", "#7")
    #expect(sender.message(seconds: 2)?.words == ["half", "0.5", "#7"])
    #expect(sender.message(seconds: 2)?.words == ["0", "b", "#7"])
  }

  @Test(
    "a long answer comes in parts, which end between characters; one over 16 MiB is replaced by a sentence")
  func longAnswers() throws {
    let peer = try PeerHome()
    let sender = try peer.sender()
    sender.send("/peer/letters", "100000", "#7")
    let parts = try (0..<2).map { _ in try #require(sender.message(seconds: 5)) }
    #expect(parts.map(\.path) == ["/pinna/part", "/pinna/reply"])
    #expect(parts.allSatisfy { $0.words.last == "#7" } && parts[1].words.first == "0")
    #expect(parts[0].words[0] + parts[1].words[1] == String(repeating: "a", count: 100_000))
    let largest = try peer.run("call", "/peer/letters", "16000000")
    #expect(largest.status == 0 && largest.output.utf8.count == 16_000_001)
    let beyond = try peer.run("call", "/peer/letters", "17000000")
    #expect(
      beyond.status == 1 && beyond.output.contains("cannot send an answer of 17000000"), "\(beyond.status)")
  }

  @Test(
    "parts of any characters are joined to the text that was sent",
    arguments: ["aä", "äö", "€a", "𝄞", "e\u{301}"])
  func parts(text: String) throws {
    let answer = Answer(.done, String(repeating: text, count: 50_000))
    let messages = answer.messages
    #expect(messages.count > 1 && messages.allSatisfy { $0.packet.count <= 65_536 })
    var parts = AnswerParts()
    let joined = messages.compactMap { OSCMessage(packet: $0.packet).flatMap { parts.join($0) } }
    #expect(joined == [answer.message])
  }

  @Test("only the connection that asked hears its answer: not one that came after it had ended")
  func connections() throws {
    let home = try PinnaHome()
    let socket = try ControlSocket(name: "pinna", environment: home.environment)
    var first: ControlSender? = try ControlSender(runtimeFolder: home.runtimeFolder)
    first?.send("/pinna/session/open", "program")
    let (_, sender) = try #require(socket.receive(milliseconds: 2000))
    #expect(socket.isThere(sender))
    first = nil
    #expect(socket.receive(milliseconds: 2000) == nil && !socket.isThere(sender))
    let second = try ControlSender(runtimeFolder: home.runtimeFolder)
    let third = try ControlSender(runtimeFolder: home.runtimeFolder)
    second.send("/pinna/status")
    third.send("/pinna/status")
    let (_, other) = try #require(socket.receive(milliseconds: 2000))
    #expect(other != sender)
    socket.send(Self.done("for the first"), to: sender)
    socket.send(Self.done("for the second"), to: other)
    #expect(second.reply(seconds: 2)?.text == "for the second")
    #expect(third.message(seconds: 0.2) == nil)
  }

  @Test("requests are served although their sender has closed its connection after them")
  func lastWords() throws {
    let home = try PinnaHome()
    let socket = try ControlSocket(name: "pinna", environment: home.environment)
    try ControlSender(runtimeFolder: home.runtimeFolder).send("/pinna/stop")
    #expect(socket.receive(milliseconds: 2000)?.message == OSCMessage("/pinna/stop"))
    // A sender that still reads has ended, too.
    let half = try ControlSender(runtimeFolder: home.runtimeFolder)
    half.send("/pinna/status")
    half.finish()
    let (message, sender) = try #require(socket.receive(milliseconds: 2000))
    #expect(message == OSCMessage("/pinna/status"))
    #expect(socket.receive(milliseconds: 2000) == nil && !socket.isThere(sender))
  }

  @Test(
    "the requests of many connections are served in turn, also those of a bundle", arguments: [false, true])
  func turns(areBundled: Bool) throws {
    let home = try PinnaHome()
    let socket = try ControlSocket(name: "pinna", environment: home.environment)
    let senders = try (0..<3).map { _ in try ControlSender(runtimeFolder: home.runtimeFolder) }
    for sender in senders {
      let packets = (0..<4).map { OSCMessage("/pinna/question/\($0)").packet }
      if areBundled {
        let parts: [UInt8] = packets.flatMap { [0, 0, 0, UInt8($0.count)] + $0 }
        sender.send(Array("#bundle\0\0\0\0\0\0\0\0\u{1}".utf8) + parts)
      } else {
        for packet in packets { sender.send(packet) }
      }
    }
    // The last ones without waiting: they are there already.
    let heard = (0..<12).compactMap { socket.receive(milliseconds: $0 < 6 ? 2000 : 0)?.message?.path.last }
    #expect(heard == Array("000111222333"))
  }

  @Test("R18: a bundle of requests with long answers is not served on while its sender reads none")
  func unreadBundle() throws {
    let home = try PinnaHome()
    let socket = try ControlSocket(name: "pinna", environment: home.environment)
    let sender = try ControlSender(runtimeFolder: home.runtimeFolder)
    let packet = OSCMessage("/pinna/outputs").packet
    let parts: [UInt8] = (0..<64).flatMap { _ in [0, 0, 0, UInt8(packet.count)] + packet }
    sender.send(Array("#bundle\0\0\0\0\0\0\0\0\u{1}".utf8) + parts)
    var served = 0
    while let (_, asker) = socket.receive(milliseconds: 100) {
      served += 1
      socket.send(Self.done(String(repeating: "port ", count: 100_000)), to: asker)
    }
    #expect((1..<8).contains(served), "\(served)")
  }

  @Test(
    "a sender that reads nothing does not delay others' answers, is read no more, and then disconnected",
    .long)
  func deaf() throws {
    let home = try PinnaHome()
    let socket = try ControlSocket(name: "pinna", environment: home.environment)
    let deaf = try ControlSender(runtimeFolder: home.runtimeFolder)
    let other = try ControlSender(runtimeFolder: home.runtimeFolder)
    func ask(_ sender: ControlSender, _ text: String) -> ControlSocket.Sender? {
      sender.send(OSCMessage("/pinna/echo", [.string(text)]).packet, seconds: 0)
      guard let (message, asker) = socket.receive(milliseconds: 20) else { return nil }
      socket.send(Self.done(message?.words.first ?? ""), to: asker)
      return asker
    }
    var asker = ask(deaf, "x")
    let first = try #require(asker)
    while asker != nil { asker = ask(deaf, "x") }
    #expect(socket.isThere(first))
    // More than its queue holds, before it reads.
    for n in 0..<30 { _ = ask(other, "\(n)") }
    var heard: [String] = []
    while let reply = other.reply(seconds: 0.1) {
      heard.append(reply.text)
      _ = socket.receive(milliseconds: 0)
    }
    #expect(heard == (0..<30).map { "\($0)" })
    #expect(
      waitUntil(seconds: 10) {
        _ = socket.receive(milliseconds: 20)
        return !socket.isThere(first)
      })
    #expect(ask(other, "again") != nil)
    withExtendedLifetime(deaf) {}
  }

  @Test(
    "an answer that fails for lack of memory is retried",
    .enabled(if: Preload.compiler != nil, "there is no C compiler for a system without memory"),
    arguments: ["ENOBUFS", "ENOMEM"])
  func noMemoryForAnswers(error: String) throws {
    let peer = try PeerHome {
      try Preload.environment(
        """
        #define _GNU_SOURCE
        #include <errno.h>
        #include <sys/socket.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        ssize_t send(int socket, const void *bytes, size_t size, int flags) {
          static int calls;
          if (calls++ < 4) { errno = \(error); return -1; }
          return syscall(SYS_sendto, socket, bytes, size, flags, 0, 0);
        }
        """, home: $0)
    }
    let sender = try peer.sender()
    sender.send("/peer/echo", "kept")
    #expect(sender.reply(seconds: 2)?.text == "kept")
  }

  @Test("files sent along with requests are closed")
  func files() throws {
    let peer = try PeerHome()
    func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/\(peer.server.pid)/fd").count
    }
    let sender = try peer.sender()
    sender.send("/peer/echo", "x")
    #expect(sender.reply(seconds: 2) != nil)
    let before = try descriptors()
    for _ in 0..<100 { sender.send(OSCMessage("/peer/echo", [.string("x")]).packet, file: 0) }
    #expect(try waitUntil(seconds: 2) { try descriptors() <= before })
    #expect(peer.server.isRunning)
  }

  @Test("R44: requests are answered even without free descriptors")
  func exhausted() throws {
    let peer = try PeerHome()
    let sender = try peer.sender()
    sender.send("/peer/exhaust")
    #expect(sender.reply(seconds: 5)?.text == "exhausted")
    for _ in 0..<10 {
      for sender in [sender, try peer.sender()] {
        sender.send("/peer/echo", "answered")
        #expect(sender.reply(seconds: 5)?.text == "answered")
      }
    }
  }
}
