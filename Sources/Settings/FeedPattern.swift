import Acoustics
import Text

/// What is said of a feed's channels and how they are held: format, order, pattern, orientation and look, each or none. Commands,
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
  /// Nil if nothing is said of it, rather than that there is none.
  private let look: Look??

  /// Words that contradict each other, or a number that is no order; a sentence.
  public struct Fault: Error, Hashable, CustomStringConvertible {
    public let description: String
  }

  /// - Throws: `UnknownWord` for a format that there is not; `Fault`.
  public init(
    format: String?, order: String?, pattern: PolarPattern?, orientation: InputOrientation?,
    look: Look?? = nil
  ) throws {
    self.look = look
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
    let formatPattern: PolarPattern? =
      self.format == .stereo ? .stereo : self.format == .ambix ? .ambix1 : nil
    try Self.check(look: look ?? nil, pattern: formatPattern ?? pattern)
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

  /// - Throws: `Fault` if a pattern that was asked for together with a look favours no direction.
  public static func check(look: Look?, pattern: PolarPattern?) throws(Fault) {
    guard look != nil, let pattern, pattern.isOriented || pattern == .omnidirectional else { return }
    throw Fault(
      description:
        "a look needs a mono pattern that favours a direction, such as cardioid; leave out the look, or \(pattern.phrase)"
    )
  }

  /// Changes what is said of pattern and orientation. What is not stays, as far as the data source offers it.
  /// - Parameter source: the selection's data source.
  public func apply(to selection: inout Selection, of source: DataSource) {
    if let orientation { selection.inputOrientation = orientation }
    let present = selection.polarPattern
    let isOffered =
      present.ambisonicsOrder != nil || selection.effectiveLook != nil
      || source.polarPatterns.contains(present)
    selection.polarPattern =
      switch format {
      case .ambix: .ambisonics(order: order ?? 1) ?? .ambix1
      case .stereo: .stereo
      case .mono: pattern ?? (present.isOriented || !isOffered ? source.monoPattern : present)
      case nil: pattern ?? (isOffered ? present : source.defaultPolarPattern)
      }
    if selection.polarPattern.isOriented { selection.look = nil }
    if let look { selection.point(look, of: source) }
    if selection.polarPattern == .stereo, orientation == nil, let first = source.stereoOrientations.first,
      !source.stereoOrientations.contains(selection.inputOrientation)
    {
      selection.inputOrientation = first
    }
  }
}
