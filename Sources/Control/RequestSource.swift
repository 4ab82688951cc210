/// What requests come from besides the control socket. A new protocol is such a type, and a place in `Controller.sources`.
///
/// Thread: control thread. No function waits, except `leave`, a second at most.
protocol RequestSource: AnyObject {
  /// Readable when something has come; negative if the thread has to look.
  var descriptor: Int32 { get }
  /// How long the thread may wait; nil for as long as it likes.
  var patience: Duration? { get }
  var droppedPackets: Int { get }
  /// Takes some of what has come, before the processor's turn.
  func receive(_ controller: Controller)
  /// Serves what needs the processor's turn, and tells what has changed in it.
  func serve(_ controller: Controller)
  /// Answers everything that is unanswered, because Pinna ends.
  func leave(_ reason: String)
}

extension RequestSource {
  var descriptor: Int32 { -1 }
  var patience: Duration? { nil }
  var droppedPackets: Int { 0 }
  func receive(_ controller: Controller) {}
  func serve(_ controller: Controller) {}
  func leave(_ reason: String) {}
}
