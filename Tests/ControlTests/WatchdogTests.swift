import Processor
import Testing

@Suite("The watchdog") struct WatchdogTests {
  private let start = ContinuousClock.now

  /// The findings of a watchdog that looks every 45 ms; `periods` gives the count at each time in
  /// milliseconds.
  private func findings(until milliseconds: Int, _ periods: (Int) -> Int) -> [(at: Int, Watchdog.Finding)] {
    var watchdog = Watchdog()
    var found: [(Int, Watchdog.Finding)] = []
    for at in stride(from: 0, through: milliseconds, by: 45) {
      if let finding = watchdog.observe(periods: periods(at), now: start + .milliseconds(at)) {
        found.append((at, finding))
      }
    }
    return found
  }

  @Test("R36: a stall is reported once within 1.5 s, and its duration when periods run again")
  func stall() {
    let found = findings(until: 10_000) { at in at < 2000 ? at : at < 7000 ? 2000 : at }
    #expect(found.count == 2)
    #expect(found.first?.1 == .stalled && (3000...3500).contains(found.first?.at ?? 0))
    guard case .resumed(let stood)? = found.last?.1 else { return #expect(Bool(false), "it never resumed") }
    #expect(stood >= .milliseconds(4900) && stood <= .milliseconds(5200))
  }

  @Test("long periods and the first look cause no report")
  func quiet() {
    // 8192 frames at 16 kHz.
    #expect(findings(until: 20_000) { $0 / 512 }.isEmpty)
    #expect(findings(until: 900) { _ in 0 }.isEmpty)
  }

  @Test("a stall of the watchdog itself is not reported as the graph's")
  func ownStandstill() {
    var watchdog = Watchdog()
    _ = watchdog.observe(periods: 10, now: start)
    _ = watchdog.observe(periods: 20, now: start + .milliseconds(45))
    // Pinna was stopped for five seconds, and so was its callback.
    #expect(watchdog.observe(periods: 20, now: start + .seconds(5)) == nil)
    #expect(watchdog.observe(periods: 20, now: start + .milliseconds(5045)) == nil)
    #expect(watchdog.observe(periods: 20, now: start + .milliseconds(6100)) == nil)
  }
}
