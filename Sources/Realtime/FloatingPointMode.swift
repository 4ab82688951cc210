import CRealtime

/// Denormals count as zero on the calling thread from here on: slow otherwise, and libjack does not see to it.
/// Every thread that calls `Engine.process` needs it, so that all of them compute the same samples.
public func flushDenormalsToZero() { pinna_flush_denormals() }
