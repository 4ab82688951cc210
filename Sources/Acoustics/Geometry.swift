/// Where the positions in a device file come from, and how far to trust them.
public struct Geometry: Hashable, Sendable {
  public enum Certainty: String, NamedWord, Codable {
    /// On the device itself.
    case measured
    /// By its maker, or by somebody who had it.
    case published
    /// By somebody who repeats another source.
    case secondary
    /// Sources contradict each other.
    case disputed
    /// Concluded from other facts.
    case inferred

    public static let kind = "certainty"
  }

  public let source: String
  public let certainty: Certainty
  /// What the model of the device leaves out, such as "the housing"; nil if nothing that matters.
  public let leavesOut: String?

  public init(source: String, certainty: Certainty, leavesOut: String? = nil) {
    self.source = source
    self.certainty = certainty
    self.leavesOut = leavesOut
  }
}

extension Geometry {
  /// Where the positions come from: "its positions are disputed (data sheet against firmware)".
  public var origin: String {
    let trust =
      switch certainty {
      case .measured: "were measured"
      case .published: "were published"
      case .secondary: "are second-hand"
      case .disputed: "are disputed"
      case .inferred: "were inferred"
      }
    return "its positions \(trust) (\(source))"
  }

  /// `origin`, if it is a reason to check the positions.
  public var doubt: String? { [.measured, .published].contains(certainty) ? nil : origin }

  /// What the model of the device leaves out; nil if nothing that matters.
  public var omission: String? { leavesOut.map { "its model leaves out \($0)" } }

  /// For readers of a design: how far to trust the positions, and what the model leaves out.
  public var remark: String { [origin, omission].compactMap(\.self).joined(separator: "; ") }
}
