import FilterBanks
import Glibc
import Synchronization
import Text
import Threads

/// What a verb shows on standard error while it works: on a terminal a bar, or the time so far, after a second;
/// elsewhere a line after two seconds, and one every ten. One line is unfinished at most.
enum WorkProgress {
  /// What is being done now.
  private struct Step {
    let number: Int
    let work: String
    /// Nil if nothing tells how far it is.
    var fraction: Double?
    var timeLeft = TimeLeft()
    let start = ContinuousClock.now

    init(_ number: Int, _ work: String) { (self.number, self.work) = (number, work) }
  }

  private struct State {
    /// The steps begun so far.
    var steps = 0
    /// The newest step, until it ends.
    var step: Step?
    /// The number of the last step that ended.
    var ended = 0
    /// What the verb in the foreground does, between its steps; nil if no verb is watched.
    var verb: Step?
    /// When anything was shown last, or the verb began.
    var lastShown = ContinuousClock.now
    /// Whether a line has told what is being done.
    var hasTold = false
    /// The length of the unfinished line of the terminal; 0 if there is none.
    var openLength = 0
  }

  private static let state = Mutex(State())
  private static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
  /// How long nothing was shown before a line is.
  private static let terminalPatience = Duration.seconds(1)
  /// How often an unfinished line is drawn again, at most.
  private static let interval = Duration.milliseconds(100)
  private static let firstPatience = Duration.seconds(2)
  private static let patience = Duration.seconds(10)

  // MARK: The verb in the foreground

  /// Runs a verb, and shows what it does as long as it works.
  static func watch<Result>(_ verb: String, _ body: () throws -> Result) rethrows -> Result {
    state.withLock {
      $0.verb = Step(0, verb)
      $0.lastShown = .now
    }
    let end = Latch()
    // Without a thread, progress is shown where a step tells how far it is.
    try? BackgroundThread.start("pinna progress") {
      while !end.wait(for: .milliseconds(200)) { show(isCalledBack: false) }
    }
    defer {
      end.open()
      unwatch()
    }
    return try body()
  }

  /// From here on the verb waits for people, or runs until it is stopped.
  static func unwatch() {
    endLine()
    state.withLock { ($0.verb, $0.step) = (nil, nil) }
  }

  /// Begins a step that cannot tell how far it is. The next step ends it.
  static func begin(_ work: String) {
    state.withLock {
      $0.steps += 1
      $0.step = Step($0.steps, work)
    }
  }

  // MARK: Steps

  /// Progress of a design that another verb needs.
  static func designing(_ device: String) -> @Sendable (Double) -> Void {
    show(
      "designing the filters of \(device)",
      note: CacheFolder.isWritable ? "they are stored for next time" : nil)
  }

  /// Progress of simulating a scene: how the device's body scatters its sound.
  static func soundField(_ device: String) -> @Sendable (Double) -> Void {
    show(
      "computing the sound field around \(device)",
      note: CacheFolder.isWritable
        ? "how its body scatters sound takes a while, and is stored for next time" : nil)
  }

  /// Progress of a step that usually takes no time.
  static func step(_ work: String) -> @Sendable (Double) -> Void { show(work, isAnnounced: false) }

  /// - Parameters:
  ///   - note: shown once, in a pipe only.
  ///   - isAnnounced: whether it is shown at once, and not only after a while.
  /// - Returns: a function to call with the fraction that is done, 0…1, from any thread. The step begins with its first
  ///   call, and ends with 1.
  static func show(_ work: String, note: String? = nil, isAnnounced: Bool = true)
    -> @Sendable (Double) -> Void
  {
    let number = Mutex<Int?>(nil)
    return { fraction in
      let (own, isFirst) = number.withLock { number in
        if let number { return (number, false) }
        let own = state.withLock {
          $0.steps += 1
          return $0.steps
        }
        number = own
        return (own, true)
      }
      let isNews = state.withLock { state in
        // Calls of other threads may come late.
        guard own > state.ended else { return false }
        if state.step?.number != own { state.step = Step(own, work) }
        state.step!.fraction = max(state.step!.fraction ?? 0, min(1, max(0, fraction)))
        return true
      }
      guard isNews else { return }
      if isFirst, isAnnounced, !isTerminal {
        Tool.complain([work, note].compactMap(\.self).joined(separator: "; "))
      } else {
        show(isCalledBack: true, atOnce: isFirst && isAnnounced)
      }
      if fraction >= 1 { end(own) }
    }
  }

  /// Ends a step: its bar becomes a whole line.
  private static func end(_ number: Int) {
    state.withLock { state in
      guard state.ended < number else { return }
      state.ended = number
      guard let step = state.step, step.number == number else { return }
      state.step = nil
      if state.openLength > 0 { put(bar(step.work, 1, ""), &state, isWhole: true) }
    }
  }

  // MARK: Lines

  /// Something else is written: the unfinished line is erased.
  /// - Parameter hasTold: whether it is written to standard error.
  static func endLine(hasTold: Bool = false) {
    state.withLock { state in
      if hasTold { state.hasTold = true }
      if state.openLength > 0 { Output.show("\r" + spaces(state.openLength) + "\r") }
      state.openLength = 0
      state.lastShown = .now
    }
  }

  /// Shows what is being done if nothing was shown for long enough.
  /// - Parameters:
  ///   - isCalledBack: whether a step told how far it is. While a verb is watched, only the terminal's first bar is
  ///     drawn then: a computation need not wait for a terminal.
  private static func show(isCalledBack: Bool, atOnce: Bool = false) {
    state.withLock { state in
      guard var step = state.step ?? state.verb, !isCalledBack || atOnce || state.verb == nil else { return }
      let silence = ContinuousClock.now - state.lastShown
      let timeLeft = step.fraction.map { step.timeLeft.text(at: $0) } ?? ""
      if state.step != nil { state.step = step }
      if isTerminal {
        guard atOnce || silence >= (state.openLength > 0 ? interval : terminalPatience) else { return }
        put(
          step.fraction.map { bar(step.work, $0, timeLeft) }
            ?? "\(step.work) … \(seconds(since: step.start)) s",
          &state, isWhole: false)
      } else if silence >= (state.hasTold ? patience : firstPatience) {
        let part = step.fraction.map { "\(Int(100 * $0)) %" } ?? "\(seconds(since: step.start)) s so far"
        let sentence = step.work + ": " + [part, timeLeft].filter { !$0.isEmpty }.joined(separator: ", ")
        Output.complain(sentence)
        (state.hasTold, state.lastShown) = (true, .now)
      }
    }
  }

  private static func put(_ line: String, _ state: inout State, isWhole: Bool) {
    let length = line.count
    let width = String(repeating: " ", count: max(0, state.openLength - length))
    let (colour, plain) = Output.allowsColour ? ("\u{1b}[36m", "\u{1b}[0m") : ("", "")
    let coloured = line.replacing(/[█░]+/) { "\(colour)\($0.output)\(plain)" }
    Output.show("\r\(coloured)\(width)" + (isWhole ? "\n" : ""))
    state.openLength = isWhole ? 0 : length
    state.lastShown = .now
  }

  private static func bar(_ work: String, _ fraction: Double, _ timeLeft: String) -> String {
    let width = 24
    let filled = Int(Double(width) * fraction)
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    return "\(work.printable) \(bar) \(Int(100 * fraction)) %  \(timeLeft)"
  }

  private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

  private static func seconds(since start: ContinuousClock.Instant) -> Int {
    Int((ContinuousClock.now - start) / .seconds(1))
  }
}
