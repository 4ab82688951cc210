import CRealtime
import Kernels
import Threads

/// What the engine's kernels are compiled for: the levels of x86-64. Every other processor is `baseline`.
public enum InstructionSet: String, CaseIterable, Comparable, Sendable {
  case baseline, v3, v4

  public static func < (a: InstructionSet, b: InstructionSet) -> Bool { a.level < b.level }

  private var level: Int32 {
    switch self {
    case .baseline: 1
    case .v3: 3
    case .v4: 4
    }
  }

  /// Whether this processor has it, and kernels for it are linked and registered.
  public var isAvailable: Bool { level <= pinna_processor_level() && KernelRegistry.tables(self) != nil }

  public static var available: [InstructionSet] { allCases.filter(\.isAvailable) }

  /// The fastest that there is.
  public static var best: InstructionSet { available.max() ?? .baseline }
}

/// Kernels by instruction set: `baseline` is always there.
package enum KernelRegistry {
  private static let added = Locked<[InstructionSet: [pinna_kernels]]>([.baseline: [kernels()]])

  /// - Parameter tables: one per vector length.
  package static func add(_ set: InstructionSet, _ tables: [pinna_kernels]) {
    added.withLock { $0[set] = tables }
  }

  static func tables(_ set: InstructionSet) -> [pinna_kernels]? { added.withLock { $0[set] } }
}
