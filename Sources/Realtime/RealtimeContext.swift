import CRealtime

/// Marks code as realtime for RealtimeSanitizer, on a thread that takes the place of the process callback without a
/// server.
package enum RealtimeContext {
  /// Whether this build contains RealtimeSanitizer. It ends the program (status 43) when `body` allocates, locks or
  /// enters the kernel.
  ///
  /// Thread: any.
  package static var isSanitized: Bool { pinna_realtime_sanitized() != 0 }

  /// Thread: the caller's, in place of JACK's realtime thread.
  package static func run(_ body: () -> Void) {
    pinna_realtime_enter()
    body()
    pinna_realtime_exit()
  }
}
