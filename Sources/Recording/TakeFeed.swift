import Acoustics
import AudioFiles
import Realtime
import Settings

/// A feed of a take besides `main`, as it was set when the take was recorded: its values, of B-format without the pattern,
/// and its channels. Stands in the sidecar.
public typealias FeedSetup = Joined<FeedValues, FeedChannels>

public struct FeedChannels: Codable, Sendable, Hashable {
  public let name: String
  /// Names of the channels of its file, in order: left, right; W, Y, Z, X.
  public let channels: [String]
  public let layout: TakeCircumstances.Layout?
  /// Of Ambisonics; nil for anything else.
  public let order: Int?
  /// Of Ambisonics: "sn3d". The channels are in the order of their ACN numbers.
  public let normalisation: String?

  public init(
    name: String, channels: [String], layout: TakeCircumstances.Layout? = nil, order: Int? = nil,
    normalisation: String? = nil
  ) {
    self.name = name
    self.channels = channels
    self.layout = layout
    self.order = order
    self.normalisation = normalisation
  }
}

extension FeedSetup {
  public init(_ feed: FeedSetting, layout: TakeCircumstances.Layout?) {
    let order = feed.selection.polarPattern.ambisonicsOrder
    var values = FeedValues(feed.reported)
    if order != nil { values[.pattern] = nil }
    self.init(
      values,
      FeedChannels(
        name: feed.name, channels: feed.channelNames, layout: layout, order: order,
        normalisation: order == nil ? nil : "sn3d"))
  }

  /// Of B-format with its pattern.
  var values: FeedValues {
    var values = first
    if values[.pattern] == nil, let pattern = self.order.flatMap(PolarPattern.ambisonics) {
      values[.pattern] = .word(pattern.rawValue)
    }
    return values
  }

  /// "Front cardioid"; "Back Ambisonics of order 1: …".
  var content: String {
    let ambisonics = self.order.map { order in
      AmbisonicFormat(
        order: order, normalisation: self.normalisation.flatMap(AmbisonicNormalisation.init) ?? .sn3d
      ).comment
    }
    return "\(first[.dataSource]?.word ?? "") \(ambisonics ?? first[.pattern]?.word ?? "")"
  }
}

/// A feed that a take records besides `main`, and where the engine has it.
public struct TakeFeed: Sendable {
  public let setup: FeedSetup
  /// The place of its first channel in `Period.feeds`. The others follow.
  public let firstOutput: Int
  /// The one that the engine's feed was begun with; nil if it has none.
  public let preRoll: PreRoll?

  public init(_ setup: FeedSetup, firstOutput: Int, preRoll: PreRoll? = nil) {
    self.setup = setup
    self.firstOutput = firstOutput
    self.preRoll = preRoll
  }

  var channels: Int { setup.channels.count }
}
