import Acoustics
import FilterDesign
import HeadResponses
import Manifolds
import Realtime
import Settings

/// What feeds of a device need to follow the sound at a sample rate: its array, and the listener's head.
///
/// Making one takes seconds, for a body whose sound field has to be computed.
public final class AdaptiveModel: Sendable {
  public let device: Device
  /// What wind is taken out with.
  private let wind: WindTable
  /// What directions are found with, and the listener's head; nil if nobody asks for them.
  private let directions: (array: ArrayTable, hrtf: HRTF)?

  package var array: ArrayTable? { directions?.array }

  /// Whether it can find directions.
  public var findsDirections: Bool { directions != nil }

  /// - Parameter findsDirections: for stereo that follows them, and talkers; for wind they are not needed.
  /// - Throws: an `Unsupported` for one microphone; a `DesignError` if the array's responses or
  ///   the HRTF cannot be had.
  public init(_ device: Device, sampleRate: Int, findsDirections: Bool = true) throws {
    try Self.check(device)
    self.device = device
    let model = try Self.manifold(of: device)
    wind = WindTable(model, sampleRate: sampleRate)
    directions =
      findsDirections
      ? (
        ArrayTable(model, sampleRate: sampleRate),
        try HRTF(path: device.hrtf ?? HRTF.defaultPath, parameters: device.design.head)
      ) : nil
  }

  /// - Throws: an `Unsupported` for one microphone.
  static func check(_ device: Device) throws(Unsupported) {
    guard device.microphones.count > 1 else {
      throw Unsupported("the sound of one microphone cannot be followed")
    }
  }

  /// With the microphones' deviations.
  static func manifold(of device: Device) throws -> any ArrayManifold {
    let model = try Manifolds.manifold(for: device)
    return device.deviations.allSatisfy { $0 == .none }
      ? model : DeviatingManifold(model, deviations: device.deviations)
  }

  /// What a feed follows the sound with.
  /// - Parameters:
  ///   - feed: with the selection that is played, and its pose.
  ///   - whole: its linear filters.
  ///   - delayFrames: their modelling delay.
  ///   - places: where talkers are whom a part may name, in the device frame.
  ///   - lineage: of the setting, as in `Engine.change`.
  ///   - last: of the same feed before it turned: the tables that take long to compute are left out, or taken from there.
  /// - Returns: nil if stereo is to follow directions, and nothing else is wanted, but the filters leave microphones out.
  public func target(
    _ feed: FeedSetting, whole: FilterSet, delayFrames: Int, places: [String: Direction] = [:],
    lineage: Int = 0, turnedFrom last: AdaptiveFilters.Target? = nil
  ) throws -> AdaptiveFilters.Target? {
    let selection = feed.selection
    let source = try device.dataSource(named: selection.dataSource)
    let sourceFrame = device.frame(of: source, selection.inputOrientation)
    // `frame` turns with the listener's head. `axes`, in which users name angles, do not turn with its yaw.
    let (frame, axes) = (sourceFrame.turned(by: selection.pose), try device.axes(of: selection))
    var target = AdaptiveFilters.Target(base: feed.base(of: whole), whole: whole)
    target.lineage = lineage
    if let directions {
      (target.array, target.up, target.hasHeight) = (
        directions.array, frame.up.vector, device.hasHeight(along: frame.up)
      )
      if feed.correction > 0, whole.outputs == 2 {
        if last != nil {
          target.lacksTables = true
        } else if whole.usesAllMicrophones {
          target.ears = EarTable(
            directions.array, base: whole, delayFrames: delayFrames, frame: frame, hrtf: directions.hrtf)
          target.strength = feed.correction
        } else if feed.wind == 0, feed.isWhole {
          return nil
        }
      }
      if !feed.isWhole { target.part = part(feed, in: axes, places) }
    }
    if feed.wind > 0 {
      let isMono = whole.outputs == 1 && selection.polarPattern != .omnidirectional
      let axis = selection.effectiveLook?.direction(in: sourceFrame) ?? sourceFrame.forward
      target.wind = WindReference(
        wind, axis: isMono ? axis.vector : nil,
        // Of B-format, W.
        outputs: selection.polarPattern.ambisonicsOrder == nil ? whole.outputs : 1)
      target.windStrength = feed.wind
    }
    if target.part != nil || feed.wind > 0 { target.weights = LinearWeights(whole, wind.grid) }
    if target.part != nil, let array, !array.isWhole, let weights = target.weights {
      target.passed = last?.passed ?? PassedSound(weights, array)
      if last?.passed != nil { target.lacksTables = true }
    }
    return target
  }

  private func part(_ feed: FeedSetting, in frame: HeadFrame, _ places: [String: Direction]) -> FollowedPart {
    let gains = feed.partGains
    var part = FollowedPart(talkers: gains.talkers, room: gains.room)
    part.plane = device.hasHeight(along: frame.up) ? nil : frame.up.vector
    if case .one(let name) = feed.part {
      part.picked = .init(name, places)
    }
    if let wanted = feed.frame, let centre = Look(azimuth: wanted.azimuth) {
      part.frame = .init(
        centre: centre.direction(in: frame).vector, up: frame.up.vector, width: wanted.width)
    }
    return part
  }
}

extension FollowedPart.Picked {
  /// - Parameter name: of a place, or the number of a talker.
  init(_ name: String, _ places: [String: Direction]) {
    // A number and a seat's name may be one person's.
    let others = places.filter { $0.key != name && (Int($0.key) == nil) == (Int(name) == nil) }.map(
      \.value.vector)
    self = places[name].map { .at($0.vector, others: others) } ?? .one(Int(name) ?? 0)
  }
}

extension FeedSetting {
  /// The part of the corrections for directions that is applied: 0 where nothing is to follow them.
  public var correction: Double { selection.polarPattern == .stereo ? adaptation : 0 }

  /// Whether its filters follow where sound comes from, or anything.
  public var followsDirections: Bool { correction > 0 || !isWhole }
  public var followsSound: Bool { followsDirections || wind > 0 }

  /// What it plays while nothing follows the sound: talkers alone are silent then.
  public func base(of whole: FilterSet) -> FilterSet { partGains.room == 0 ? whole.silence : whole }
}
