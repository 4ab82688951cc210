/// An array as a file describes it: a body, microphones, data sources. A device is one input.
public struct Device: Hashable, Sendable {
  public let name: String
  /// What a person calls it: "Phone with five microphones".
  public let title: String
  public let body: Body
  public let microphones: [Microphone]
  public private(set) var dataSources: [DataSource]
  public let portType: PortType
  /// SOFA file of the listener whom stereo imitates; nil for the packaged KEMAR.
  public private(set) var hrtf: String?
  /// What programs know the input by.
  public let uid: String
  /// JACK ports that its microphones are connected to, in order, when it is chosen as an input.
  public let capturePorts: [String]
  /// JACK ports of the earpieces that belong to it, left and right; empty where there are none.
  public let playbackPorts: [String]
  /// Further inputs that can be chosen instead of this one.
  public let inputs: [Device]

  public init(
    name: String, title: String, body: Body, microphones: [Microphone], dataSources: [DataSource],
    portType: PortType = .builtInMic, hrtf: String? = nil, uid: String? = nil, capturePorts: [String] = [],
    playbackPorts: [String] = [], inputs: [Device] = []
  ) {
    self.name = name
    self.title = title
    self.body = body
    self.microphones = microphones
    self.dataSources = dataSources
    self.portType = portType
    self.hrtf = hrtf
    self.uid = uid ?? name
    self.capturePorts = capturePorts
    self.playbackPorts = playbackPorts
    self.inputs = inputs
  }

  /// The same device with other data sources.
  public func with(dataSources: [DataSource]) -> Device {
    var device = self
    device.dataSources = dataSources
    return device
  }

  /// The same device with another listener: the path of a SOFA file.
  public func with(hrtf: String) -> Device {
    var device = self
    device.hrtf = hrtf
    return device
  }

  /// Whether there is anything to choose between.
  public var hasChoice: Bool { dataSources.count > 1 || dataSources.contains { $0.polarPatterns.count > 1 } }

  /// The data source that `word` names in any case.
  public func dataSource(named word: String) throws(UnknownWord) -> DataSource {
    guard let match = dataSources.first(where: { $0.name.lowercased() == word.lowercased() }) else {
      throw UnknownWord(kind: "data source of \(name)", word: word, known: dataSources.map(\.name))
    }
    return match
  }

  public func microphoneIndex(named name: String) -> Int? {
    microphones.firstIndex { $0.name == name }
  }
}

/// What the microphones sit on.
public enum Body: Hashable, Sendable {
  /// Nothing that disturbs the sound field.
  case free
  /// A rigid sphere around the origin; radius in metres.
  case sphere(radius: Double)
  /// A rigid box around the origin; edge lengths x, y, z in metres.
  case box(size: SIMD3<Double>)
  /// Whatever it is: how the array hears each direction was measured.
  case measured(ArrayMeasurement)
}

/// The files that hold the measurement of an array, a channel of which is a microphone of the device.
public enum ArrayMeasurement: Hashable, Sendable {
  /// A SOFA file (AES69) of impulse responses.
  case sofa(path: String)
  /// A WAV of impulse responses, one direction after the other, and the table of those directions.
  case impulseResponses(path: String, directions: String)
}

public struct Microphone: Hashable, Sendable {
  /// The port's name: "bottom-left".
  public let name: String
  public let position: Position

  public init(name: String, position: Position) {
    self.name = name
    self.position = position
  }
}

/// A microphone, or a beamformer that uses several.
public struct DataSource: Hashable, Sendable {
  public enum Location: String, NamedWord, Codable {
    case upper, lower
    public static let kind = "location"
  }
  public enum Orientation: String, NamedWord, Codable {
    case top, bottom, front, back, left, right
    public static let kind = "data source orientation"
  }

  public let name: String
  /// The seeds' identifier, four characters as a number: 1835216945, which spells 'mc01', and on.
  public let id: UInt32
  public let location: Location?
  public let orientation: Orientation
  public let forward: Direction
  /// Channels of the microphones that mono patterns use, the first being the omnidirectional one.
  public let microphones: [Int]
  public let polarPatterns: [PolarPattern]
  /// Orientations in which stereo is offered; empty where the pattern is not.
  public let stereoOrientations: [InputOrientation]

  /// What it hears with where nobody has chosen.
  public var defaultPolarPattern: PolarPattern {
    polarPatterns.contains(.omnidirectional) ? .omnidirectional : polarPatterns[0]
  }

  public init(
    name: String, id: UInt32, location: Location?, orientation: Orientation, forward: Direction,
    microphones: [Int], polarPatterns: [PolarPattern], stereoOrientations: [InputOrientation]
  ) {
    self.name = name
    self.id = id
    self.location = location
    self.orientation = orientation
    self.forward = forward
    self.microphones = microphones
    self.polarPatterns = polarPatterns
    self.stereoOrientations = stereoOrientations
  }
}
