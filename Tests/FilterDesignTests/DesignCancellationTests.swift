import Acoustics
import FilterBanks
import FilterDesign
import Foundation
import Numerics
import Synchronization
import TestSupport
import Testing

/// A cancelled design ends early. Designs report their progress and yield the cores to other programs.
@Suite("Cancellation of designs", .serialized) struct DesignCancellationTests {
  /// Microphones on a ring, or on the top edges of a box, all of them in each data source.
  static func device(microphones: Int, sources: Int = 1, box: Double? = nil) -> Device {
    let places = (0..<microphones).map { n -> (String, Double, Double, Double) in
      let phase = 2 * Double.pi * Double(n) / Double(microphones)
      guard let box else { return ("m\(n)", 60 * cos(phase), Double(n % 3), 60 * sin(phase)) }
      return ("m\(n)", 500 * box * 0.8 * cos(phase), 500 * box, 500 * box * 0.8 * sin(phase))
    }
    let directions: [(DataSource.Orientation, Direction)] = [
      (.front, .plusZ), (.back, Direction.plusZ.opposite), (.left, Direction.plusX.opposite),
      (.right, .plusX),
    ]
    return try! Device(
      name: "ring\(microphones)", title: "", body: box.map { .box(size: [$0, $0, $0]) } ?? .free,
      microphones: TestDevices.microphones(places),
      dataSources: (0..<sources).map { n in
        TestDevices.source(
          "S\(n)", id: UInt32(n + 1), directions[n % 4].0, directions[n % 4].1,
          microphones: Array(0..<microphones), [.cardioid, .stereo],
          stereo: [.portrait, .portraitUpsideDown])
      })
  }

  /// Cancels a design when `part` of it is done. Returns how long it then takes to end, and the longest time
  /// between two progress reports before.
  private func cancel(_ device: Device, at part: Double) throws -> (end: Duration, longestSilence: Duration) {
    let cancellation = DesignCancellation()
    let state = Mutex<
      (cancelled: ContinuousClock.Instant?, last: ContinuousClock.Instant, longestSilence: Duration)
    >(
      (nil, .now, .zero))
    #expect(throws: DesignError.cancelled) {
      try FilterBank.design(device: device, sampleRate: 48_000, cancellation: cancellation) { fraction in
        state.withLock { state in
          let now = ContinuousClock.now
          if state.cancelled == nil { state.longestSilence = max(state.longestSilence, now - state.last) }
          state.last = now
          guard fraction >= part, state.cancelled == nil else { return }
          state.cancelled = now
          cancellation.cancel()
        }
      }
    }
    let (cancelled, _, longestSilence) = state.withLock { $0 }
    return (.now - (try #require(cancelled)), longestSilence)
  }

  @Test(
    "R41: a cancelled design ends soon at any stage, and its progress advances",
    arguments: [
      ("16 microphones × 8 data sources", 16, 8, nil, [0, 0.19, 0.2, 0.25]),
      ("64 microphones", 64, 1, nil, [0.16, 0.2, 0.26]),
      ("8 microphones on a box of 300 mm", 8, 2, 0.3, [0, 0.008, 0.02, 0.03]),
    ] as [(String, Int, Int, Double?, [Double])])
  func ends(_ name: String, microphones: Int, sources: Int, box: Double?, parts: [Double]) throws {
    let device = Self.device(microphones: microphones, sources: sources, box: box)
    var (end, longestSilence) = (Duration.zero, Duration.zero)
    for part in Faults.areHeavy ? parts : [parts[1]] {
      let measured = try cancel(device, at: part)
      (end, longestSilence) = (max(end, measured.end), max(longestSilence, measured.longestSilence))
    }
    // Design threads yield to other programs, of which there are many in `make test`.
    #expect(end < Faults.patience(.milliseconds(500)) && longestSilence < Faults.patience(.seconds(1)))
    Faults.report(
      "R41", done: "design of \(name) cancelled", took: end, limit: .milliseconds(500))
    Faults.report(
      "R41", done: "design of \(name): longest time without progress", took: longestSilence,
      limit: .seconds(1))
  }

  @Test("a design cancelled before it begins never begins") func cancelledBefore() {
    let cancellation = DesignCancellation()
    cancellation.cancel()
    #expect(throws: DesignError.cancelled) {
      try FilterBank.design(device: TestDevices.pair(), sampleRate: 48_000, cancellation: cancellation) { _ in
        Issue.record("it began")
      }
    }
  }

  @Test("a cached design is read even if it is cancelled") func cachedDesign() throws {
    try FilterBankTests.withFolder { cache in
      let bank = try FilterBank.cached(device: TestDevices.pair(), sampleRate: 48_000, cache: cache)
      let cancellation = DesignCancellation()
      cancellation.cancel()
      let again = try FilterBank.cached(
        device: TestDevices.pair(), sampleRate: 48_000, cache: cache, cancellation: cancellation)
      #expect(again == bank)
    }
  }

  @Test("design threads have a lower priority, and the calling thread keeps its own") func priority() throws {
    @Sendable func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
    let before = niceness()
    let seen = Mutex<Set<Int32>>([])
    _ = try FilterBank.design(device: TestDevices.pair(), sampleRate: 48_000) { _ in
      let value = niceness()
      seen.withLock { _ = $0.insert(value) }
    }
    #expect(seen.withLock { $0 } == [max(before, 10)])
    #expect(niceness() == before)
  }

  @Test("progress never decreases and ends at 1", .long) func progress() throws {
    let parts = Mutex<[Double]>([])
    _ = try FilterBank.design(device: TestDevices.ring7(), sampleRate: 48_000) { part in
      parts.withLock { $0.append(part) }
    }
    let all = parts.withLock { $0 }
    #expect(zip(all, all.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(all.first == 0 && all.last == 1 && all.count > 100)
  }

  @Test("a design leaves the program's number of BLAS threads unchanged") func threadCount() async {
    await #expect(processExitsWith: .success) {
      setBLASThreads(2)
      _ = try FilterBank.design(device: TestDevices.pair(), sampleRate: 8_000)
      precondition(blasThreads() == 2)
    }
  }
}
