/// A feed besides `main`: a case that is heard on ports of its own, with a gain and a high-pass of its own.
public struct Feed: Hashable, Sendable {
  public let name: String
  public var selection: Selection
  public var gain: Decibels
  public var highPass: HighPass
  public var muted = false

  public init(name: String, selection: Selection, gain: Decibels = Decibels(0), highPass: HighPass = .off) {
    self.name = name
    self.selection = selection
    self.gain = gain
    self.highPass = highPass
  }

  /// The linear output gain; 0 while muted.
  public var amplitude: Float { muted ? 0 : Float(gain.amplitude) }

  /// The names of its outputs' ports, in order: "anna"; "anna_left" and "anna_right"; for B-format "room_w", "room_y",
  /// "room_z", "room_x", then by ACN number: "room_4".
  public var portNames: [String] {
    switch selection.polarPattern.outputs {
    case 1: [name]
    case 2: [name + "_left", name + "_right"]
    case let count: (0..<count).map { "\(name)_" + ($0 < 4 ? ["w", "y", "z", "x"][$0] : "\($0)") }
    }
  }

  /// The most feeds that there can be besides `main`.
  public static let most = 15
}
