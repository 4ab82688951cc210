/// A microphone array as a device file describes it: body, microphones and data sources. A device is one input.
public struct Device: Hashable, Sendable {
  public let name: String
  /// The name shown to users: "Phone with five microphones".
  public let title: String
  public let body: Body
  public let placement: Placement
  /// Nil for a device that exists only as a file.
  public let geometry: Geometry?
  public let hardware: Hardware?
  /// What `pinna array calibrate` measured; nil if it was not run.
  public private(set) var calibration: Calibration?
  public internal(set) var microphones: [Microphone]
  /// The microphones of the measurement that is this device's body, if some are missing (`without`); nil if none is.
  public internal(set) var measuredMicrophones: [Microphone]?
  public internal(set) var dataSources: [DataSource]
  public let portType: PortType
  /// Path of the SOFA file whose HRTFs the stereo design uses; nil selects the packaged KEMAR.
  public private(set) var hrtf: String?
  /// Parameters of the filter designs.
  public internal(set) var design: DesignParameters
  /// The identifier by which programs select the input.
  public let uid: String
  /// JACK ports to connect to the microphones, in microphone order, when this input is selected.
  public internal(set) var capturePorts: [String]
  /// JACK ports of the device's earpieces, left then right; empty if it has none.
  public let playbackPorts: [String]
  /// Alternative inputs that can be selected instead of this one.
  public let inputs: [Device]
  public private(set) var source = DeviceSource(path: nil)

  /// - Parameters:
  ///   - microphones: without a body, they are moved so that their centroid is the origin: where an array is drawn
  ///     does not matter.
  ///   - design: nil takes the defaults of `body`.
  ///   - isCentred: whether they were moved already.
  /// - Throws: the first rule that it breaks: see `fault(of:on:_:)`.
  public init(
    name: String, title: String, body: Body, placement: Placement = .upright, geometry: Geometry? = nil,
    hardware: Hardware? = nil, microphones: [Microphone], dataSources: [DataSource],
    portType: PortType = .builtInMic, hrtf: String? = nil, design: DesignParameters? = nil,
    uid: String? = nil,
    capturePorts: [String] = [], playbackPorts: [String] = [], inputs: [Device] = [], isCentred: Bool = false
  ) throws(DeviceFault) {
    self.name = name
    self.title = title
    self.body = body
    self.placement = placement
    self.geometry = geometry
    self.hardware = hardware
    self.microphones = microphones
    self.dataSources = dataSources
    self.portType = portType
    self.hrtf = hrtf
    self.design = design ?? DesignParameters(body: body)
    self.uid = uid ?? name
    self.capturePorts = capturePorts
    self.playbackPorts = playbackPorts
    self.inputs = inputs
    try check()
    if body == .free, !isCentred { self.microphones = Self.centred(microphones) }
  }

  private static func centred(_ microphones: [Microphone]) -> [Microphone] {
    let centroid = microphones.map(\.position).reduce(.zero, +) / Double(max(1, microphones.count))
    return microphones.map { $0.moved(by: -centroid) }
  }

  /// A copy of the device with `dataSources` in place of its own.
  public func with(dataSources: [DataSource]) throws(DeviceFault) -> Device {
    var device = self
    device.dataSources = dataSources
    try device.checkDataSources()
    return device
  }

  /// A copy of the device that offers only the cases for which `isOffered` is true. Every data source stays, even without
  /// a pattern.
  public func offering(_ isOffered: (FilterCase) -> Bool) -> Device {
    var device = self
    device.dataSources = dataSources.map { source in
      func isKept(_ pattern: PolarPattern, _ orientation: InputOrientation?) -> Bool {
        isOffered(FilterCase(dataSource: source.name, polarPattern: pattern, inputOrientation: orientation))
      }
      let oriented = source.polarPatterns.filter(\.isOriented)
      let orientations = source.stereoOrientations.filter { orientation in
        oriented.contains { isKept($0, orientation) }
      }
      let patterns = source.polarPatterns.filter {
        $0.isOriented ? !orientations.isEmpty : isKept($0, nil)
      }
      return source.offering(patterns, in: orientations)
    }
    return device
  }

  /// A copy of the device that uses the HRTFs in the SOFA file at path `hrtf`.
  public func with(hrtf: String) -> Device {
    var device = self
    device.hrtf = hrtf
    return device
  }

  /// A copy of the device that was read from the file at `path`.
  public func with(file path: String) -> Device {
    var device = self
    device.source = DeviceSource(path: path)
    return device
  }

  /// A copy of the device that uses `design` as its design parameters.
  public func with(design: DesignParameters) -> Device {
    var device = self
    device.design = design
    return device
  }

  /// The capture channel of the hardware that each microphone is on, counted from 1.
  public var captureChannels: [Int] { microphones.enumerated().map { $1.channel ?? $0 + 1 } }

  /// What the filters undo for each microphone: what the device file states, and what was measured.
  public var deviations: [Deviation] {
    microphones.map { $0.deviation + (calibration?.deviations[$0.name] ?? .none) }
  }

  /// A copy of the device as it was measured.
  public func with(calibration: Calibration?) -> Device {
    var device = self
    device.calibration = calibration
    return device
  }

  /// Paths of the files of measurements that its filters depend on.
  public var measuredFiles: [String] {
    var paths = hrtf.map { [$0] } ?? []
    if case .measured(let measurement) = body { paths += measurement.paths }
    return paths
  }

  /// Whether the device has more than one data source, or a data source with more than one polar pattern.
  public var hasChoice: Bool { dataSources.count > 1 || dataSources.contains { $0.polarPatterns.count > 1 } }

  /// The data source called `word`, ignoring case.
  public func dataSource(named word: String) throws(UnknownWord) -> DataSource {
    guard let match = dataSources.first(where: { $0.name.lowercased() == word.lowercased() }) else {
      throw UnknownWord(kind: "data source of \(name)", word: word, choices: dataSources.map(\.name))
    }
    return match
  }

  public func microphoneIndex(named name: String) -> Int? {
    microphones.firstIndex { $0.name == name }
  }
}

/// Where a device was read. Devices are equal wherever that was.
public struct DeviceSource: Hashable, Sendable {
  /// Nil for a device of no file.
  public let path: String?

  public static func == (_: DeviceSource, _: DeviceSource) -> Bool { true }
  public func hash(into hasher: inout Hasher) {}
}

public struct Microphone: Hashable, Sendable {
  /// Also the name of the JACK port: "bottom-left".
  public let name: String
  /// In the device frame, in metres.
  public private(set) var position: Position
  /// Nil for an omnidirectional microphone.
  public let capsule: Capsule?
  public let deviation: Deviation
  /// The capture channel of the hardware that it is on, counted from 1; nil for the place in the device's list.
  public let channel: Int?

  public init(
    name: String, position: Position, capsule: Capsule? = nil, deviation: Deviation = .none,
    channel: Int? = nil
  ) {
    self.name = name
    self.position = position
    self.capsule = capsule
    self.deviation = deviation
    self.channel = channel
  }

  func on(channel: Int) -> Microphone {
    Microphone(name: name, position: position, capsule: capsule, deviation: deviation, channel: channel)
  }

  func moved(by displacement: SIMD3<Double>) -> Microphone {
    var microphone = self
    microphone.position += displacement
    return microphone
  }
}

/// A single microphone, or a beamformer that combines several.
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
  /// The identifier that the seeds print: a four-character code, counting up from 1835216945 ('mc01').
  public let id: UInt32
  public let location: Location?
  public let orientation: Orientation
  public let forward: Direction
  /// Channels that the mono patterns use. The omnidirectional pattern is the first channel alone.
  public let microphones: [Int]
  public let polarPatterns: [PolarPattern]
  /// Input orientations in which stereo is offered, or the one of B-format (`Device.ambisonics`); empty if neither is.
  public let stereoOrientations: [InputOrientation]
  /// Of its stereo cases. Sources of device files have none; those of `Device.ownDevice(of:)` may.
  public let pose: Pose

  /// The pattern in force until the user selects one.
  public var defaultPolarPattern: PolarPattern {
    polarPatterns.contains(.omnidirectional) ? .omnidirectional : polarPatterns[0]
  }

  public init(
    name: String, id: UInt32, location: Location?, orientation: Orientation, forward: Direction,
    microphones: [Int], polarPatterns: [PolarPattern], stereoOrientations: [InputOrientation],
    pose: Pose = .none
  ) {
    self.name = name
    self.id = id
    self.location = location
    self.orientation = orientation
    self.forward = forward
    self.microphones = microphones
    self.polarPatterns = polarPatterns
    self.stereoOrientations = stereoOrientations
    self.pose = pose
  }

  /// The same source with other cases.
  func offering(
    _ patterns: [PolarPattern], in orientations: [InputOrientation], with pose: Pose? = nil,
    microphones: [Int]? = nil
  ) -> DataSource {
    DataSource(
      name: name, id: id, location: location, orientation: orientation, forward: forward,
      microphones: microphones ?? self.microphones, polarPatterns: patterns, stereoOrientations: orientations,
      pose: pose ?? self.pose)
  }
}
