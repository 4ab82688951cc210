import Foundation
import JackClient
import Realtime
import Synchronization
import Testing
import Threads

@Suite("The thread for JACK's metadata") struct MetadataThreadTests {
  /// A fake database that blocks every call while it is held and logs the calls.
  final class Database: Sendable {
    let isHeld = Atomic<Bool>(false)
    let calls = Locked<[MetadataThread.Job]>([])

    func perform(_ job: MetadataThread.Job) {
      // The job that ends a connection's label process writes no labels.
      guard job.isWanted() else { return }
      calls.withLock { $0.append(job) }
      while isHeld.load(ordering: .acquiring) { usleep(500) }
    }
    var count: Int { calls.withLock { $0.count } }
  }

  let database = Database()
  let metadata: MetadataThread
  let first = 1
  let second = 2

  init() { metadata = MetadataThread { [database] in database.perform($0) } }

  func job(_ owner: Int, _ port: UInt64) -> MetadataThread.Job {
    .init(owner: owner, server: nil, port: port, label: nil)
  }

  func waitUntil(_ condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while !condition() {
      if .now > end { return false }
      usleep(500)
    }
    return true
  }

  @Test("R30: posting returns at once while the database is held, and the jobs run in order afterwards")
  func order() {
    database.isHeld.store(true, ordering: .releasing)
    let took = ContinuousClock().measure { for port in 0..<100 { metadata.post(job(first, UInt64(port))) } }
    #expect(took < .milliseconds(100))
    #expect(
      waitUntil { database.count == 1 } && metadata.isBusy(for: first) && !metadata.isBusy(for: second))
    database.isHeld.store(false, ordering: .releasing)
    #expect(waitUntil { database.count == 100 })
    #expect(waitUntil { !metadata.isBusy(for: first) } && metadata.fault == nil)
    #expect(database.calls.withLock { $0.map(\.port) } == Array(0..<100))
    // Later work starts a new thread.
    metadata.post(job(first, 100))
    #expect(waitUntil { database.count == 101 })
  }

  @Test("R30: a held database is one fault in one sentence after a second, and none once it answers again")
  func fault() {
    #expect(metadata.fault == nil)
    database.isHeld.store(true, ordering: .releasing)
    metadata.post(job(first, 1))
    #expect(metadata.fault == nil)
    #expect(waitUntil { metadata.fault != nil })
    #expect(metadata.fault?.contains("metadata database") == true)
    database.isHeld.store(false, ordering: .releasing)
    #expect(waitUntil { metadata.fault == nil })
  }

  @Test("R30: a full queue drops jobs and counts them")
  func bound() {
    database.isHeld.store(true, ordering: .releasing)
    metadata.post(job(first, 0))
    #expect(waitUntil { database.count == 1 })
    for port in 1...MetadataThread.capacity + 10 { metadata.post(job(first, UInt64(port))) }
    #expect(metadata.dropped == 10)
    database.isHeld.store(false, ordering: .releasing)
    #expect(waitUntil { database.count == 1 + MetadataThread.capacity })
  }

  @Test("R30: a closed connection drops its jobs, except the one under way")
  func clientGoes() {
    database.isHeld.store(true, ordering: .releasing)
    metadata.post(job(first, 1))
    #expect(waitUntil { database.count == 1 })
    metadata.post(job(second, 2))
    metadata.post(job(first, 3))
    metadata.post(job(second, 4))
    metadata.drop(owner: second)
    metadata.drop(owner: first)
    metadata.post(job(first, 5))
    #expect(metadata.isBusy(for: first) && !metadata.isBusy(for: second))
    database.isHeld.store(false, ordering: .releasing)
    #expect(waitUntil { !metadata.isBusy(for: first) })
    #expect(database.calls.withLock { $0.map(\.port) } == [1, 5])
  }

  @Test("a job that is held back waits without a fault or a busy thread and runs when it is released")
  func heldBack() {
    let isHeldBack = Latch()
    metadata.post(
      .init(owner: first, server: nil, port: 1, label: nil, isHeldBack: { !isHeldBack.isOpen }))
    metadata.post(job(second, 2))
    #expect(waitUntil { database.count == 1 })
    usleep(1_200_000)
    #expect(database.count == 1 && !metadata.isBusy(for: first) && metadata.fault == nil)
    isHeldBack.open()
    #expect(waitUntil { database.count == 2 })
    #expect(database.calls.withLock { $0.map(\.port) } == [2, 1])
  }

  @Test(
    "R30: labels of a port removed while they are written are deleted, because its number is reused"
  )
  func portGoes() {
    database.isHeld.store(true, ordering: .releasing)
    metadata.post(job(first, 1))
    #expect(waitUntil { database.count == 1 })
    metadata.post(job(first, 2))
    metadata.drop(port: 2)
    metadata.drop(port: 1)
    database.isHeld.store(false, ordering: .releasing)
    #expect(waitUntil { !metadata.isBusy(for: first) })
    #expect(database.calls.withLock { $0.map(\.port) } == [1, 1])
  }
}
