import Foundation
import JackClient
import JackWorld
import Processor
import TestSupport
import Testing
import Threads

@Suite("Work on other threads", .timeLimit(.minutes(10))) struct WorkerTests {
  private final class Log: Sendable {
    let lines = Locked<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private func wait(_ condition: () -> Bool) { while !condition() { usleep(500) } }

  @Test("the result of an abandoned job is undone before the next job begins")
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

  @Test("jobs are queued at once while an earlier one blocks, and their results arrive when it ends")
  func queuedBehindABlockedJob() throws {
    let (worker, gate) = (LazyWorker("worker test"), DispatchSemaphore(value: 0))
    let quick = worker.job { "quick" }
    wait { quick.result != nil }
    let start = ContinuousClock.now
    let jobs = ["slow", "other"].map { name in
      worker.job {
        gate.wait()
        return name
      }
    }
    #expect(ContinuousClock.now - start < Faults.patience(.milliseconds(20)))
    usleep(100_000)
    #expect(jobs.allSatisfy { $0.result == nil })
    for _ in jobs { gate.signal() }
    wait { jobs.allSatisfy { $0.result != nil } }
    #expect(try ([quick] + jobs).map { try $0.result?.get() } == ["quick", "slow", "other"])
  }

  @Test(
    "a flood of requests delays a job by one run, and a flood of jobs does not block a request forever")
  func floods() throws {
    let worker = try Worker("worker test")
    let (log, gate) = (Log(), DispatchSemaphore(value: 0))
    let requests = LatestRequest<Int>()
    // Each run posts the next request, as a constantly changing graph does.
    @Sendable func post(_ n: Int) {
      _ = requests.post(n, on: worker) { n, _ in
        log.add("run")
        if n < 100 { post(n + 1) }
      }
    }
    worker.run { gate.wait() }
    post(0)
    let jobs = (0..<10).map { _ in worker.job { log.add("job") } }
    gate.signal()
    wait { jobs.allSatisfy { $0.result != nil } && log.lines.withLock { $0.count == 111 } }
    #expect(
      log.lines.withLock { Array($0.prefix(12)) } == ["run"] + Array(repeating: "job", count: 10) + ["run"])
  }

  @Test("of several waiting requests only the newest runs, under the number that all of them were given")
  func newest() throws {
    let worker = try Worker("worker test")
    let (log, gate) = (Log(), DispatchSemaphore(value: 0))
    let requests = LatestRequest<Int>()
    worker.run { gate.wait() }
    let numbers = (0..<5).map { n in requests.post(n, on: worker) { log.add("\($0) as \($1)") } }
    gate.signal()
    wait { log.lines.withLock { !$0.isEmpty } }
    let lastNumber = requests.post(5, on: worker) { log.add("\($0) as \($1)") }
    wait { log.lines.withLock { $0.count == 2 } }
    #expect(numbers == [1, 1, 1, 1, 1] && lastNumber == 2)
    #expect(log.lines.withLock { $0 } == ["4 as 1", "5 as 2"])
  }

  @Test("a job abandoned before it began never runs and does not count as a hanging thread")
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

  @Test("R42: a server lost during a look at the graph loses all connections, including the look's")
  func connectionsOfALook() {
    let memory = ConnectionMemory()
    let (seen, requested) = (Wiring.Wire("one", "mic:out"), Wiring.Wire("out_left", "speaker:in"))
    var look = memory.connections.withLock { $0 }
    _ = look.wiring.observe(connected: [seen], ports: ["one", "out_left"], exists: { _ in true }, now: .now)
    memory.markAllLost([requested])
    memory.store(look)
    var next = memory.connections.withLock { $0 }
    let found = next.wiring.observe(
      connected: [], ports: ["one", "out_left"], exists: { _ in true }, now: .now)
    #expect(found.toMake.sorted() == [seen, requested].sorted())
  }

  @Test(
    "R42: a graph check that saw an absent connection forgotten, and then the server lost, keeps the others")
  func forgettingBeforeALoss() {
    let memory = ConnectionMemory()
    let wire = Wiring.Wire("one", "mic:out")
    var check = memory.connections.withLock { $0 }
    _ = check.wiring.observe(connected: [wire], ports: ["one"], exists: { _ in true }, now: .now)
    _ = memory.forgetAbsent()
    memory.markAllLost([])
    memory.store(check)
    #expect(memory.connections.withLock { $0.wiring.remembers(wire) })
  }
}
