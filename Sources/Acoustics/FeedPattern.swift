import Text

/// What is said of a feed's channels and how they are held: format, order, pattern and orientation, each or none. Commands,
/// OSC and presets read it here.
public struct FeedPattern: Sendable {
  private enum Format: String, NamedWord {
    case stereo, mono, ambix
    static let kind = "format"
  }

  private let format: Format?
  private let order: Int?
  private let pattern: PolarPattern?
  private let orientation: InputOrientation?

  /// Words that contradict each other, or a number that is no order; a sentence.
  public struct Fault: Error, Hashable, CustomStringConvertible {
    public let description: String
  }

  /// - Throws: `UnknownWord` for a format that there is not; `Fault`.
  public init(
    format: String?, order: String?, pattern: PolarPattern?, orientation: InputOrientation?
  ) throws {
    self.pattern = pattern
    self.orientation = orientation
    self.order = try order.map { text in
      guard let number = text.decimal.flatMap({ Int(exactly: $0) }),
        PolarPattern.ambisonicsOrders.contains(number)
      else {
        throw Fault(
          description: "the order \(text.quoted) is not usable; give a whole number from 1 to 4")
      }
      return number
    }
    self.format = try format.map { try Format(word: $0) } ?? (order == nil ? nil : .ambix)
    guard order == nil || self.format == .ambix else {
      throw Fault(
        description: "an order belongs to the format ambix; give that format, or leave the order out")
    }
    guard let pattern, let format = self.format else { return }
    let isOfFormat =
      switch format {
      case .stereo: pattern == .stereo
      case .mono: !pattern.isOriented
      case .ambix: false
      }
    guard isOfFormat else {
      throw Fault(
        description:
          "the format \(format.rawValue) and the pattern \(pattern.rawValue) exclude each other; leave one of them out"
      )
    }
  }

  /// Changes what is said of pattern and orientation. What is not stays, as far as the data source offers it.
  /// - Parameter source: the selection's data source.
  public func apply(to selection: inout Selection, of source: DataSource) {
    if let orientation { selection.inputOrientation = orientation }
    let present = selection.polarPattern
    let isOffered = present.ambisonicsOrder != nil || source.polarPatterns.contains(present)
    selection.polarPattern =
      switch format {
      case .ambix: .ambisonics(order: order ?? 1) ?? .ambix1
      case .stereo: .stereo
      case .mono: pattern ?? (present.isOriented || !isOffered ? source.monoPattern : present)
      case nil: pattern ?? (isOffered ? present : source.defaultPolarPattern)
      }
    if selection.polarPattern == .stereo, orientation == nil, let first = source.stereoOrientations.first,
      !source.stereoOrientations.contains(selection.inputOrientation)
    {
      selection.inputOrientation = first
    }
  }
}
