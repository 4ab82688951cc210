import CSockets
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
    "an answer over 16 MiB, or a large one to a client that takes no files, is replaced by a sentence")
  func largeAnswers() throws {
    let peer = try PeerHome()
    let sender = try peer.sender()
    sender.send("/peer/letters", "100000", "#7")
    let message = try #require(sender.message(seconds: 5))
    #expect(message.path == "/pinna/reply" && message.words.first == "1" && message.words.last == "#7")
    #expect(message.words[1].contains("SCM_RIGHTS") && !message.words[1].contains("\n"))
    let largest = try peer.run("call", "/peer/letters", "16000000")
    #expect(largest.status == 0 && largest.output.utf8.count == 16_000_001)
    let beyond = try peer.run("call", "/peer/letters", "17000000")
    #expect(
      beyond.status == 1 && beyond.output.contains("cannot send an answer of 170000"), "\(beyond.status)")
  }

  @Test("a new socket bound to the address of a closed one is another client")
  func heldAddress() throws {
    let home = try PinnaHome()
    let socket = try ControlSocket(name: "pinna", environment: home.environment)
    var first: ControlSender? = try ControlSender(runtimeFolder: home.runtimeFolder, clientName: "one")
    first?.send("/pinna/session/open", "program")
    let (_, sender) = try #require(socket.receive(milliseconds: 2000))
    #expect(socket.isThere(sender) && !socket.hasGone(sender))
    first = nil
    #expect(!socket.isThere(sender) && socket.hasGone(sender))
    let second = try ControlSender(runtimeFolder: home.runtimeFolder, clientName: "one")
    #expect(!socket.isThere(sender))
    socket.send(Self.done("for the first"), to: sender)
    second.send("/pinna/status")
    let (_, other) = try #require(socket.receive(milliseconds: 2000))
    #expect(other != sender)
    socket.send(Self.done("for the second"), to: other)
    #expect(second.reply(seconds: 2)?.text == "for the second")
  }

  @Test(
    "requests from an abstract address, which others could take over, are refused; those without one are obeyed"
  )
  func otherAddresses() throws {
    let home = try PinnaHome()
    let socket = try ControlSocket(name: "pinna", environment: home.environment)
    let abstract = try ControlSender(
      runtimeFolder: home.runtimeFolder, abstractName: "pinna-test-\(getpid())-answers")
    abstract.send("/pinna/stop")
    #expect(socket.receive(milliseconds: 2000)?.message == nil && socket.droppedPackets == 1)
    #expect(abstract.reply(seconds: 2)?.status == ExitStatus.usage.rawValue)
    let mute = try ControlSender(runtimeFolder: home.runtimeFolder, answerable: false)
    mute.send("/pinna/stop")
    let (message, sender) = try #require(socket.receive(milliseconds: 2000))
    #expect(message == OSCMessage("/pinna/stop") && !socket.isThere(sender) && !socket.hasGone(sender))
    withExtendedLifetime(mute) {}
  }

  @Test("a sender that reads nothing does not delay others' answers")
  func deaf() throws {
    let home = try PinnaHome()
    let socket = try ControlSocket(name: "pinna", environment: home.environment)
    let deaf = try ControlSender(runtimeFolder: home.runtimeFolder)
    let other = try ControlSender(runtimeFolder: home.runtimeFolder)
    func ask(_ sender: ControlSender, _ text: String) throws {
      sender.send("/pinna/echo", text)
      let (message, asker) = try #require(socket.receive(milliseconds: 2000))
      socket.send(Self.done(message?.words.first ?? ""), to: asker)
    }
    for _ in 0..<500 { try ask(deaf, "x") }
    // More than its queue holds, before it reads.
    for n in 0..<30 { try ask(other, "\(n)") }
    var heard: [String] = []
    while let reply = other.reply(seconds: 0.1) {
      heard.append(reply.text)
      _ = socket.receive(milliseconds: 0)
    }
    #expect(heard == (0..<30).map { "\($0)" })
    withExtendedLifetime(deaf) {}
  }

  @Test(
    "R29: a sender whose socket is on a hanging disk is skipped and counted; others are answered",
    .enabled(if: DeadMount.isPossible, "only root may mount a disk that hangs"))
  func hungAddress() throws {
    let peer = try PeerHome()
    let folder = peer.home.folder.path + "/far"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let far = try ControlSender(runtimeFolder: peer.home.runtimeFolder, folder: folder)
    let near = try peer.sender()
    func answers(_ sender: ControlSender) -> String? {
      sender.send("/peer/echo", "x")
      return sender.reply(seconds: 2)?.text
    }
    #expect(answers(far) == "x")
    let disk = try DeadMount(over: folder)
    var worst = Duration.zero
    for _ in 0..<20 {
      far.send("/peer/echo", "unheard")
      let asked = ContinuousClock.now
      try #require(answers(near) == "x")
      worst = max(worst, .now - asked)
    }
    #expect(worst <= Faults.patience(.milliseconds(100)), "\(worst)")
    near.send("/peer/dropped")
    #expect(near.reply(seconds: 2)?.text == "20")
    disk.release()
    // The lookup that waited has failed; the next one finds the socket.
    #expect(waitUntil(seconds: 5) { answers(far) == "x" })
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
        ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
          static int calls;
          if (calls++ < 4) { errno = \(error); return -1; }
          return syscall(SYS_sendmsg, socket, message, flags);
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
    // The clients' folder may be listed at that moment.
    #expect(try waitUntil(seconds: 2) { try descriptors() <= before })
    #expect(peer.server.isRunning)
  }

  @Test("R44: requests are answered even without free descriptors")
  func exhausted() throws {
    let peer = try PeerHome()
    let sender = try peer.sender()
    sender.send("/peer/exhaust")
    #expect(sender.reply(seconds: 5)?.text == "exhausted")
    sender.send("/peer/echo", "answered")
    #expect(sender.reply(seconds: 5)?.text == "answered")
  }
}
