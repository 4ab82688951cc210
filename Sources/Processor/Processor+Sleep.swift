/// What keeps the machine awake while a take runs. A value; control thread.
struct Wakefulness {
  /// Nil while the machine may sleep.
  var inhibitor: (any SleepInhibitor)?
  /// Whether the operator was warned that the machine may sleep during takes.
  var hasWarned = false
}

extension Processor {
  /// Keeps the machine awake from the request for a take until the take is on disk. Warns once if it may sleep.
  func pollSleep() {
    guard state.take != nil || takeAtStop != nil || !takes.closing.isEmpty else {
      wakefulness.inhibitor?.release()
      wakefulness.inhibitor = nil
      return
    }
    let inhibitor = wakefulness.inhibitor ?? world.keepAwake()
    wakefulness.inhibitor = inhibitor
    guard !wakefulness.hasWarned, let fault = inhibitor.fault else { return }
    wakefulness.hasWarned = true
    warn(
      "this machine may go to sleep during a take, because \(fault); if it sleeps by itself, switch that off")
  }
}
