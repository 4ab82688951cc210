import Glibc

/// Keeps idle cores from sleeping as long as it lives: Linux's promise of a wake-up latency of 0 µs, which only root may ask
/// for on most systems. A core that slept comes back with cold caches, a virtual one when its host has time for it.
/// - Source: Linux, Documentation/power/pm_qos_interface.rst.
final class AwakeCores {
  private static let path = "/dev/cpu_dma_latency"
  private let file: Int32

  static let advice = "Idle cores may have slept: \(path) could not be opened, which root may."

  /// Nil where the system does not let us.
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
