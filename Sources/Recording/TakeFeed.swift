import Acoustics
import AudioFiles
import Realtime

/// A feed of a take besides `main`, as it was set when the take was recorded. Stands in the sidecar.
///
/// Thread: any; a value.
public struct FeedSetup: Codable, Sendable, Hashable {
  public let name: String
  /// Names of the channels of its file, in order: left, right; W, Y, Z, X.
  public let channels: [String]
  public let dataSource: String
  /// Nil for Ambisonics.
  public let polarPattern: String?
  public let inputOrientation: String
  public let look: Look?
  /// Of the device, in degrees; nil for none.
  public let roll: Double?
  /// Of the listener, in degrees; nil for none.
  public let yaw: Double?
  /// What followed the pose that came in; nil for nothing.
  public let follow: [Followed]?
  public let layout: TakeSetup.Layout?
  public let gainDB: Double
  /// Corner of the high-pass; nil if it is off.
  public let highPassHz: Double?
  public let muted: Bool
  /// Of Ambisonics; nil for anything else.
  public let order: Int?
  /// Of Ambisonics: "sn3d". The channels are in the order of their ACN numbers.
  public let normalisation: String?

  public init(
    name: String, channels: [String], dataSource: String, polarPattern: String?, inputOrientation: String,
    look: Look? = nil, roll: Double? = nil, yaw: Double? = nil, follow: [Followed]? = nil,
    layout: TakeSetup.Layout? = nil, gainDB: Double, highPassHz: Double? = nil,
    muted: Bool = false,
    order: Int? = nil, normalisation: String? = nil
  ) {
    self.name = name
    self.channels = channels
    self.dataSource = dataSource
    self.polarPattern = polarPattern
    self.inputOrientation = inputOrientation
    self.look = look
    (self.roll, self.yaw, self.follow) = (roll, yaw, follow)
    self.layout = layout
    self.gainDB = gainDB
    self.highPassHz = highPassHz
    self.muted = muted
    self.order = order
    self.normalisation = normalisation
  }

  /// Names of the channels among those of other files: "anna", "room W".
  var trackNames: [String] { channels.count == 1 ? [name] : channels.map { "\(name) \($0)" } }

  /// "Front cardioid"; "Back Ambisonics of order 1: …".
  var content: String {
    let ambisonics = order.map { order in
      AmbisonicFormat(
        order: order, normalisation: normalisation.flatMap(AmbisonicNormalisation.init) ?? .sn3d
      ).comment
    }
    return "\(dataSource) \(ambisonics ?? polarPattern ?? "")"
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
