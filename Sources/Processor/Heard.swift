import Acoustics
import Messages
import Realtime
import Rendering
import Settings

/// What is heard, and what is on its way through the callback to being heard.
package struct Heard {
  /// The setting that is audible or fading in.
  package private(set) var inForce: Setting
  /// The newest accepted setting of the current device: in force, or pending in the callback.
  package private(set) var wanted: Setting
  /// The filters of the current engine; nil before the first engine.
  private(set) var filters: FilterSets?
  /// The filters of `inForce`. They differ from `filters` between a device switch and its fade-in; if the server dies
  /// in between, the next engine uses these.
  private var filtersInForce: FilterSets?
  /// Changes that the callback has not reported on yet.
  package private(set) var pending: [Ticket: PendingChange] = [:]

  package struct PendingChange {
    var setting: Setting
    /// The missing microphones that its filters do without.
    let missing: Set<String>
    let deadline: ContinuousClock.Instant
    /// Nil for an internal change, and after the request timed out.
    var request: Request?
    /// Whether its setting contains all changes before: who waits for one that it supersedes waits for this one.
    var containsEarlier = false
    /// What is played if it follows a pose; nil if it does not.
    var turned: Selection?
  }

  init(_ setting: Setting) { (inForce, wanted) = (setting, setting) }

  /// Other feeds besides `main` are wanted. They have no part in the crossfades of `main`.
  mutating func want(_ feeds: [FeedSetting]) {
    wanted.want(feeds)
    inForce.want(feeds)
    for ticket in pending.keys { pending[ticket]?.setting.want(feeds) }
  }

  /// The callback has been sent a change.
  mutating func posted(_ ticket: Ticket, _ change: PendingChange) {
    pending[ticket] = change
    wanted = change.setting
  }

  /// The callback has applied a change.
  /// - Returns: the change; nil if it was not awaited any more.
  mutating func applied(_ ticket: Ticket) -> PendingChange? {
    guard let ended = pending.removeValue(forKey: ticket) else { return nil }
    inForce = ended.setting
    filtersInForce = filters
    return ended
  }

  /// The callback has dropped a change in favour of a newer one.
  /// - Returns: who waits for it, and not for the newer one.
  mutating func superseded(_ ticket: Ticket) -> Request? {
    guard let request = pending.removeValue(forKey: ticket)?.request else { return nil }
    guard let newest = pending.keys.max(), newest > ticket, pending[newest]?.containsEarlier == true else {
      return request
    }
    let other = pending[newest]?.request
    pending[newest]?.request = Request { outcome in
      request.answer(outcome)
      other?.answer(outcome)
    }
    return nil
  }

  /// The callback has refused a change, because a take had begun.
  /// - Returns: who waits for it.
  mutating func refused(_ ticket: Ticket) -> Request? {
    guard let ended = pending.removeValue(forKey: ticket) else { return nil }
    if ended.setting == wanted { wanted = pending.max { $0.key < $1.key }?.value.setting ?? inForce }
    return ended.request
  }

  /// Takes the requests of changes whose time is over. The changes stay pending.
  mutating func takeExpired(where hasPassed: (ContinuousClock.Instant) -> Bool) -> [Request] {
    var expired: [Request] = []
    for (ticket, change) in pending where hasPassed(change.deadline) {
      if let request = change.request { expired.append(request) }
      pending[ticket]?.request = nil
    }
    return expired
  }

  /// Forgets all pending changes: the callback that received them will not report again.
  /// - Returns: who waits for them, in the order of the changes.
  mutating func forgetPending() -> [Request] {
    defer { (pending, wanted) = ([:], inForce) }
    return pending.sorted { $0.key < $1.key }.compactMap(\.value.request)
  }

  /// An engine with other filters is in use. What is in force still sounds with the old ones.
  mutating func use(_ new: FilterSets) { filters = new }

  /// An engine has joined a graph with `filters`, and plays what is in force.
  mutating func join(with new: FilterSets) { (filters, filtersInForce) = (new, new) }

  /// The engine is gone. The next one plays what is in force.
  mutating func leave() { filters = filtersInForce ?? filters }
}
