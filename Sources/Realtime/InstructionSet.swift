import CRealtime
import Kernels
import Threads

/// Instruction sets that kernels are compiled for: levels of x86-64. On every other architecture there is only
/// `baseline`.
public enum InstructionSet: String, CaseIterable, Comparable, Sendable {
  case baseline, v3, v4

  /// Thread: any.
  public static func < (a: InstructionSet, b: InstructionSet) -> Bool { a.level < b.level }

  private var level: Int32 {
    switch self {
    case .baseline: 1
    case .v3: 3
    case .v4: 4
    }
  }

  /// Whether this processor supports it, and kernels for it are linked and registered.
  ///
  /// Thread: any but the callback's.
  public var isAvailable: Bool { level <= pinna_processor_level() && KernelRegistry.tables(self) != nil }

  /// Thread: any but the callback's.
  public static var available: [InstructionSet] { allCases.filter { $0.isAvailable } }

  /// The fastest available instruction set.
  ///
  /// Thread: any but the callback's.
  public static var best: InstructionSet { available.max() ?? .baseline }
}

/// Registered kernels by instruction set. `baseline` is always registered.
package enum KernelRegistry {
  private static let added = Locked<[InstructionSet: [pinna_kernels]]>([.baseline: [kernels()]])

  /// Thread: any but the callback's.
  /// - Parameter tables: one per vector length.
  package static func add(_ set: InstructionSet, _ tables: [pinna_kernels]) {
    added.withLock { $0[set] = tables }
  }

  /// Thread: any but the callback's.
  static func tables(_ set: InstructionSet) -> [pinna_kernels]? { added.withLock { $0[set] } }
}
