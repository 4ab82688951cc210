/// A feed besides `main`: a case that is heard on ports of its own, with a gain and a high-pass of its own.
public struct Feed: Hashable, Sendable {
  /// The name of the feed that always exists.
  public static let main = "main"

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

  /// The names of its outputs' channels: those of its ports without the feed's name, as "left" and "right", or "W", "Y",
  /// "Z", "X", "4"; its own name if there is one channel.
  public var channelNames: [String] {
    let names = portNames
    if names.count == 1 { return names }
    let words = names.map { String($0.dropFirst(name.count + 1)) }
    return names.count == 2 ? words : words.map { $0.uppercased() }
  }

  /// Whether a feed may have this name: a letter, then letters and digits, 32 at most, as it stands in names of files and
  /// ports. `main` is the feed that always exists, `all` stands for every feed, and TAKE-microphones.wav is the file of the
  /// microphones.
  public static func isName(_ name: String) -> Bool {
    func isLetter(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    let bytes = Array(name.utf8)
    return (1...32).contains(bytes.count) && isLetter(bytes[0])
      && bytes.allSatisfy { isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      && ![main, "all", "microphones"].contains(name.lowercased())
  }

  /// Whether a user who writes `name` means `main`.
  public static func isMain(_ name: String) -> Bool { name.lowercased() == main }

  /// The most feeds that there can be besides `main`, and the most outputs of all, `main` included.
  public static let most = 15
  public static let mostOutputs = 64
}

extension DataSource {
  /// The mono pattern that most people want first.
  public var monoPattern: PolarPattern {
    let mono = polarPatterns.filter { !$0.isOriented }
    return mono.contains(.cardioid) ? .cardioid : mono.first ?? defaultPolarPattern
  }
}
