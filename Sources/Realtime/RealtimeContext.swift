import CRealtime

/// The stretch of a thread that plays the process callback where there is no server.
package enum RealtimeContext {
  /// Whether this build carries RealtimeSanitizer, which ends the program (43) when `body` allocates, locks or
  /// enters the kernel.
  package static var isSanitized: Bool { pinna_realtime_sanitized() != 0 }

  package static func run(_ body: () -> Void) {
    pinna_realtime_enter()
    body()
    pinna_realtime_exit()
  }
}
