import CRealtime

/// Makes the calling thread treat denormals as zero. They are slow otherwise, and libjack does not do it.
///
/// Every thread that calls `Engine.process` needs this, so that all of them compute the same samples.
///
/// Thread: any.
public func flushDenormalsToZero() { pinna_flush_denormals() }

/// Calls `body` with denormals treated as zero, then restores the calling thread's mode.
///
/// Thread: any.
func flushingDenormalsToZero(_ body: () -> Void) {
  let mode = pinna_floating_point_mode()
  defer { pinna_set_floating_point_mode(mode) }
  flushDenormalsToZero()
  body()
}
