import Glibc

/// Keeps idle cores awake as long as it exists, by requesting a wake-up latency of 0 µs from Linux. Most systems allow
/// this only to root. A core that slept has cold caches, and a virtual core resumes only when its host schedules it.
/// - Source: Linux, Documentation/power/pm_qos_interface.rst.
final class AwakeCores {
  private static let path = "/dev/cpu_dma_latency"
  private let file: Int32

  static let advice =
    "Idle cores may have slept: cannot open \(path). Run the benchmark as root to keep them awake."

  /// Nil if the system refuses the request.
  init?() {
    let opened = open(Self.path, O_WRONLY | O_CLOEXEC)
    if opened < 0 { return nil }
    var latency: Int32 = 0
    if write(opened, &latency, 4) != 4 {
      close(opened)
      return nil
    }
    file = opened
  }

  deinit { close(file) }
}
