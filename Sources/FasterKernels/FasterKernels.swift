import Realtime

#if arch(x86_64)
  import KernelsV3
  import KernelsV4
  import KernelsV4Eight
#endif

/// The engine's kernels for newer processors. They are a separate module because they need unsafe compiler flags, which
/// SwiftPM does not allow in a versioned dependency. Programs that want them call `register`.
public enum FasterKernels {
  /// Registers the kernels that this processor supports. Engines created afterwards use the fastest ones.
  public static func register() {
    #if arch(x86_64)
      KernelRegistry.add(.v3, [KernelsV3.kernels()])
      KernelRegistry.add(.v4, [KernelsV4.kernels(), KernelsV4Eight.kernels()])
    #endif
  }
}
