import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

/// Of several processes that want the same filters, one designs them.
@Suite("Filters that another process is designing") struct DesignLockTests {
  let home: VerbHome
  init() throws { home = try VerbHome(hasFilters: false) }

  private var filters: [String] { home.contents("cache/pinna/filters") }
  private static let waiting = "pinna: waiting for the filters that "

  private func start(_ words: String...) throws -> Program {
    try Program(try PinnaHome.binary(), words, environment: home.environment)
  }

  /// A design that stands still while it has its lock.
  private func stoppedDesign() throws -> Program {
    let designing = try start("design", "pair")
    let lock = { filters.first { $0.hasSuffix(".lock") }.map { home.path + "/cache/pinna/filters/" + $0 } }
    try #require(
      waitUntil(seconds: 60, every: 1) {
        lock().map { FileManager.default.contents(atPath: $0)?.isEmpty == false } ?? false
      })
    designing.signal(SIGSTOP)
    return designing
  }

  private func render() throws -> Program {
    try AudioClip(sampleRate: 48000, channels: VerbHome.noise).write(wav: home.path + "/mics.wav")
    return try start("render", "--preset", "pair", home.path + "/mics.wav", home.path + "/out.wav")
  }

  @Test("a render says once for whose design it waits, and then plays those filters")
  func other() throws {
    let designing = try stoppedDesign()
    defer { designing.signal(SIGCONT) }
    let render = try render()
    let sentence = "\(Self.waiting)process \(designing.pid) (pinna design) is designing\n"
    #expect(waitUntil(seconds: 60) { render.errorText.contains(sentence) }, "\(render.errorText)")
    usleep(300_000)
    #expect(render.isRunning)
    designing.signal(SIGCONT)
    let outcome = try #require(render.wait(seconds: 60))
    #expect(
      outcome.status == 0 && outcome.error.components(separatedBy: Self.waiting).count == 2, "\(outcome)")
    #expect(!outcome.error.contains("designing the filters of"), "\(outcome)")
    #expect(try #require(designing.wait(seconds: 60)).status == 0)
    #expect(filters.count == 2, "\(filters)")
  }

  @Test("whoever waits for a process that is killed designs the filters")
  func killed() throws {
    let designing = try stoppedDesign()
    let render = try render()
    #expect(waitUntil(seconds: 60) { render.errorText.contains(Self.waiting) }, "\(render.errorText)")
    designing.signal(SIGKILL)
    let outcome = try #require(render.wait(seconds: 60))
    #expect(outcome.status == 0 && outcome.error.contains("designing the filters of pair"), "\(outcome)")
    #expect(filters.count == 2, "\(filters)")
  }

  @Test(
    "a number in a lock is not believed of a process that does not have the lock; without a holder nobody waits"
  )
  func stale() throws {
    #expect(try home.pinna("design", "pair").status == 0)
    let stem = try #require(filters.first { $0.hasSuffix(".json") }).dropLast(5)
    let folder = home.path + "/cache/pinna/filters/"
    func forge() throws {
      for name in filters { try FileManager.default.removeItem(atPath: folder + name) }
      try Data("\(ProcessInfo.processInfo.processIdentifier)\n".utf8).write(
        to: URL(filePath: folder + stem + ".lock"))
    }
    try forge()
    let free = try home.pinna("design", "pair")
    #expect(free.status == 0 && !free.error.contains(Self.waiting), "\(free)")
    try forge()
    // One process has it, and the file says another, which has it open.
    let holder = try Program("/usr/bin/flock", ["-F", folder + stem + ".lock", "sleep", "60"])
    let lock = open(folder + stem + ".lock", O_RDONLY)
    defer { close(lock) }
    try #require(waitUntil(seconds: 60) { FileLock.probe(lock) == .held })
    let waiting = try start("design", "pair")
    #expect(
      waitUntil(seconds: 60) {
        waiting.errorText.contains("\(Self.waiting)another process is designing\n")
      }, "\(waiting.errorText)")
    holder.signal(SIGKILL)
    waiting.stop()
  }
}
