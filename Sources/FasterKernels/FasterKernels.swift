import Realtime

#if arch(x86_64)
  import KernelsV3
  import KernelsV4
  import KernelsV4Eight
#endif

/// The engine's kernels for newer processors. Apart from `Realtime`, because they carry compiler flags that a library
/// which other packages depend on may not have; whoever wants them registers them.
public enum FasterKernels {
  /// Engines that are made from now on use the fastest kernels that this processor has.
  public static func register() {
    #if arch(x86_64)
      KernelRegistry.add(.v3, [KernelsV3.kernels()])
      KernelRegistry.add(.v4, [KernelsV4.kernels(), KernelsV4Eight.kernels()])
    #endif
  }
}
