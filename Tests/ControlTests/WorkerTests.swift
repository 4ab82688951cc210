import Control
import Foundation
import JackClient
import Synchronization
import TestSupport
import Testing

@Suite("Work on other threads", .timeLimit(.minutes(1))) struct WorkerTests {
  private final class Log: Sendable {
    let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private func wait(_ condition: () -> Bool) { while !condition() { usleep(500) } }

  @Test("what an abandoned job made is taken back before the next job begins")
  func takenBackFirst() throws {
    let worker = try Worker("worker test")
    let (log, gate) = (Log(), DispatchSemaphore(value: 0))
    let first = worker.job {
      log.add("begun")
      gate.wait()
      return 1
    }
    wait { log.lines.withLock { !$0.isEmpty } }
    let second = worker.job { log.add("second") }
    first.abandon { _ in worker.runNext { log.add("taken back") } }
    gate.signal()
    wait { second.result != nil }
    #expect(log.lines.withLock { $0 } == ["begun", "taken back", "second"])
  }

  @Test("a job that is abandoned before it began is not begun, and is no thread that hangs")
  func abandonedInQueue() throws {
    let worker = try Worker("worker test")
    let (log, gate) = (Log(), DispatchSemaphore(value: 0))
    let first = worker.job { gate.wait() }
    let waiting = (0..<8).map { n in worker.job { log.add("\(n)") } }
    for job in waiting { job.abandon() }
    gate.signal()
    let last = worker.job { log.add("last") }
    wait { last.result != nil && first.result != nil }
    #expect(log.lines.withLock { $0 } == ["last"])
  }

  @Test("R42: a server that goes while a look goes on loses all connections, those of the look included")
  func connectionsOfALook() {
    let memory = ConnectionMemory()
    let (seen, asked) = (Wiring.Wire("one", "mic:out"), Wiring.Wire("out_left", "speaker:in"))
    var look = memory.connections.withLock { $0 }
    _ = look.wiring.observe(connected: [seen], ports: ["one", "out_left"], exists: { _ in true }, now: .now)
    memory.loseAll([asked])
    memory.store(look)
    var next = memory.connections.withLock { $0 }
    let found = next.wiring.observe(
      connected: [], ports: ["one", "out_left"], exists: { _ in true }, now: .now)
    #expect(found.toMake.sorted() == [seen, asked].sorted())
  }
}
