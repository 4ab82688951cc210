import Control
import Foundation
import LiveSupport
import TestSupport
import Testing

/// How Pinna announces itself to a session manager, against peers in this process.
@Suite("The start under a session manager") struct NSMStartTests {
  /// The result of `NSMClient.join`, in another thread.
  private final class Start: @unchecked Sendable {
    // Unchecked: read after `semaphore`.
    let semaphore = DispatchSemaphore(value: 0)
    var client: NSMClient?
    var complaints: [String] = []
    var duration = Duration.zero

    init(_ url: String) {
      Thread.detachNewThread { [self] in
        let began = ContinuousClock.now
        client = NSMClient.join(
          environment: ["NSM_URL": url], program: "/opt/bin/pinna-2", isStopped: { false },
          complain: { self.complaints.append($0) })
        duration = .now - began
        semaphore.signal()
      }
    }

    func finish() { semaphore.wait() }
  }

  @Test("the announcement has all six arguments; the project comes with its path and client ID")
  func announcement() throws {
    let peer = NSMPeer()
    // Debian names its own host by 127.0.1.1, and the manager then answers from 127.0.0.1.
    let start = Start(peer.url(host: "127.0.1.1"))
    let announcement = try peer.welcome()
    #expect(
      announcement.arguments == [
        .string("pinna"), .string(":switch:dirty:progress:message:"), .string("pinna-2"), .integer(1),
        .integer(2), .integer(getpid()),
      ])
    peer.sendOpen("/tmp/a/pinna.nABCD", id: "pinna.nABCD")
    start.finish()
    #expect(
      start.client?.project?.path == "/tmp/a/pinna.nABCD" && start.client?.project?.clientID == "pinna.nABCD")
    #expect(start.complaints.isEmpty, "\(start.complaints)")
  }

  @Test(
    "a manager that has ended is noticed at once; one that is silent, after five seconds; Pinna runs without",
    .long)
  func silence() {
    let port = NSMPeer().port
    let gone = Start("osc.udp://127.0.0.1:\(port)/")
    gone.finish()
    #expect(gone.client == nil && gone.duration < .seconds(2), "\(gone.duration)")
    let silent = NSMPeer()
    let start = Start(silent.url())
    start.finish()
    #expect(
      start.client == nil && (.seconds(5) ... .seconds(7)).contains(start.duration), "\(start.duration)")
    for complaints in [gone.complaints, start.complaints] {
      #expect(complaints.count == 1 && complaints[0].contains("does not answer"), "\(complaints)")
      #expect(complaints[0].contains("runs without a session manager") && complaints[0].contains("NSM_URL"))
    }
  }

  @Test("a refusal by the manager is told with its reason, and Pinna runs without")
  func refusal() throws {
    let peer = NSMPeer()
    let start = Start(peer.url())
    _ = peer.message { $0.path == "/nsm/server/announce" }
    peer.send("/error", .string("/nsm/server/announce"), .integer(-3), .string("you are blacklisted"))
    start.finish()
    #expect(start.client == nil && start.complaints.first?.contains("you are blacklisted") == true)
  }

  @Test(
    "R32: where a manager listens at 127.0.0.1 alone, its port at another loopback address does not count")
  func otherLoopback() throws {
    let peer = NSMPeer(host: "127.0.0.1")
    let stranger = NSMPeer(host: "127.0.0.2", port: peer.port)
    let start = Start(peer.url())
    _ = peer.message { $0.path == "/nsm/server/announce" }
    stranger.imitate(peer)
    stranger.sendOpen("/tmp/stolen", id: "pinna.nEVIL")
    stranger.send("/reply", .string("/nsm/server/announce"), .string("hi"), .string("x"), .string(":"))
    stranger.sendOpen("/tmp/stolen", id: "pinna.nEVIL")
    peer.send("/reply", .string("/nsm/server/announce"), .string("hello"), .string("manager"), .string(":"))
    peer.sendOpen("/tmp/right", id: "pinna.nGOOD")
    start.finish()
    #expect(start.client?.project?.path == "/tmp/right", "\(start.complaints)")
    #expect(stranger.port == peer.port && stranger.message(seconds: 0.1) == nil)
  }

  @Test("the answer of another port, and malformed packets, do not count")
  func strangers() throws {
    let peer = NSMPeer()
    let start = Start(peer.url())
    _ = peer.message { $0.path == "/nsm/server/announce" }
    let stranger = UDPSender(port: peer.clientPort)
    stranger.send("/reply", .string("/nsm/server/announce"), .string("hi"), .string("x"), .string(":"))
    stranger.send("/nsm/client/open", .string("/tmp/stolen"), .string("x"), .string("pinna.nEVIL"))
    var noise = SeededNoise(seed: 9)
    for length in [0, 1, 7, 8, 12, 64, 65_000] {
      peer.send((0..<length).map { _ in UInt8(truncatingIfNeeded: noise.next()) })
    }
    peer.send("/nsm/client/open", .string("/tmp/two"), .string("arguments"))
    peer.send("/nsm/client/open", .string("/tmp/wrong"), .string("types"), .integer(1))
    peer.send(
      "/reply", .string("/nsm/server/announce"), .string("hello"), .string("manager"), .string(":"))
    peer.sendOpen("/tmp/right", id: "pinna.nGOOD")
    start.finish()
    #expect(start.client?.project?.path == "/tmp/right" && start.client?.project?.clientID == "pinna.nGOOD")
    #expect(stranger.message(seconds: 0.2) == nil)
  }

  @Test(
    "a URL of another form is told in one sentence, and Pinna runs without; without NSM_URL nothing is said",
    arguments: [
      "osc.tcp://127.0.0.1:9000/", "osc.udp://127.0.0.1/", "osc.udp://:9000/", "osc.udp://127.0.0.1:0/",
      "osc.udp://127.0.0.1:70000/", "garbage", "osc.udp://no.such.host.invalid:9000/",
    ])
  func urls(url: String) {
    let start = Start(url)
    start.finish()
    #expect(start.client == nil && start.complaints.count == 1, "\(start.complaints)")
    #expect(start.complaints.first?.contains("NSM_URL") == true)
    let none = Start("")
    none.finish()
    #expect(none.client == nil && none.complaints.isEmpty && !NSMClient.isNamed([:]))
  }
}
