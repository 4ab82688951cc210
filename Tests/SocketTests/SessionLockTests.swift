import Foundation
import LiveSupport
import PinnaSession
import TestSupport
import Testing

@Suite("A session whose Pinna does not answer") struct SessionLockTests {
  @Test("preferences and activity of a session can be read while a change waits")
  func readers() throws {
    let peer = try PeerHome()
    let session = AudioSession(SocketEngine(environment: peer.home.environment))
    let changed = DispatchSemaphore(value: 0)
    Thread {
      _ = try? session.setActive(true)
      changed.signal()
    }.start()
    try #require(waitUntil(seconds: 5) { peer.server.outputText.contains("/pinna/status") })
    let read = DispatchSemaphore(value: 0)
    Thread {
      _ = (session.isActive, session.category, session.mode, session.categoryOptions)
      _ = (session.preferredSampleRate, session.preferredInputOrientation)
      read.signal()
    }.start()
    #expect(read.wait(timeout: .now() + 1) == .success)
    peer.server.signal(SIGKILL)
    #expect(changed.wait(timeout: .now() + 3) == .success)
  }
}
