import Foundation
import JackClient
import Realtime
import Synchronization
import Testing
import Threads

@Suite("JACK's metadata, behind a thread of their own") struct MetadataThreadTests {
  /// Stands for the database: it holds every call up until it is let go, and notes which came.
  final class Database: Sendable {
    let isHeld = Atomic<Bool>(false)
    let calls = Locked<[MetadataThread.Job]>([])

    func perform(_ job: MetadataThread.Job) {
      // What ends the process that writes a connection's labels writes none.
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

  @Test("R30: whoever asks returns at once while the database is held, and all comes in order when it is not")
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
    // Later work finds a thread again.
    metadata.post(job(first, 100))
    #expect(waitUntil { database.count == 101 })
  }

  @Test("R30: after a second there is one fault, in one sentence, and none when the database answers again")
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

  @Test("R30: a queue that is full drops, and counts what it dropped")
  func bound() {
    database.isHeld.store(true, ordering: .releasing)
    metadata.post(job(first, 0))
    #expect(waitUntil { database.count == 1 })
    for port in 1...MetadataThread.capacity + 10 { metadata.post(job(first, UInt64(port))) }
    #expect(metadata.dropped == 10)
    database.isHeld.store(false, ordering: .releasing)
    #expect(waitUntil { database.count == 1 + MetadataThread.capacity })
  }

  @Test("R30: a connection that goes takes its work along, but for what is under way")
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

  @Test("what is held back waits, keeps nobody busy, is no fault, and comes when nothing holds it back")
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
    "R30: the labels of a port that goes while they are written are removed again, for its number is used again"
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
