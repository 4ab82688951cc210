/// A requested setting of a device: data source, polar pattern and input orientation.
public struct Selection: Hashable, Sendable {
  public var dataSource: String
  public var polarPattern: PolarPattern
  public var inputOrientation: InputOrientation
  /// Where a mono pattern looks; nil for the data source's forward. It has no meaning for stereo and B-format.
  public var look: Look?
  /// Of stereo and B-format. It has no meaning for mono patterns.
  public var pose: Pose
  /// What follows the pose that comes in.
  public var follows: Set<Followed>

  public init(
    dataSource: String, polarPattern: PolarPattern, inputOrientation: InputOrientation, look: Look? = nil,
    pose: Pose = .none, follows: Set<Followed> = []
  ) {
    self.dataSource = dataSource
    self.polarPattern = polarPattern
    self.inputOrientation = inputOrientation
    self.look = look
    self.pose = pose
    self.follows = follows
  }

  /// Looks in a direction; nil looks along the data source's forward again. What hears all around, or on more than one
  /// channel, becomes the mono pattern that most people want first.
  public mutating func point(_ look: Look?, of source: DataSource) {
    self.look = look
    guard look != nil, polarPattern.isOriented || polarPattern == .omnidirectional else { return }
    polarPattern = source.monoPattern == .omnidirectional ? .cardioid : source.monoPattern
  }

  /// Nil for stereo and B-format, too.
  public var effectiveLook: Look? { polarPattern.isOriented ? nil : look }

  /// What keys and MIDI controllers turn; nil for stereo and B-format, of which they do not make mono, as a look that is
  /// given does.
  public var turnableLook: Look? { polarPattern.isOriented ? nil : look ?? .ahead }

  /// The filter case of this selection.
  public var filterCase: FilterCase {
    FilterCase(
      dataSource: dataSource, polarPattern: polarPattern, inputOrientation: inputOrientation, look: look)
  }
}

extension Selection {
  /// The device edges that the left and right channels point to; nil for anything but stereo.
  public func layout(on device: Device) -> StereoLayout? {
    guard polarPattern == .stereo, let source = try? device.dataSource(named: dataSource) else { return nil }
    return HeadFrame(forward: source.forward, orientation: inputOrientation).map {
      device.layout($0.turned(by: pose))
    }
  }
}

/// One combination that has its own filter set. Mono patterns do not depend on the input orientation.
public struct FilterCase: Hashable, Sendable {
  public let dataSource: String
  public let polarPattern: PolarPattern
  /// Nil for mono patterns.
  public let inputOrientation: InputOrientation?
  /// Where a mono pattern looks that a device does not list among its cases.
  public let look: Look?

  public init(
    dataSource: String, polarPattern: PolarPattern, inputOrientation: InputOrientation?, look: Look? = nil
  ) {
    self.dataSource = dataSource
    self.polarPattern = polarPattern
    self.inputOrientation = polarPattern.isOriented ? inputOrientation : nil
    self.look = polarPattern.isOriented ? nil : look
  }

  /// "Back", "stereo", "portrait"; "Front", "cardioid", "look 60".
  package var words: [String] {
    [dataSource, polarPattern.rawValue, look.map { "look \($0.word)" }, inputOrientation?.rawValue]
      .compactMap(\.self)
  }

  /// The same case at a look.
  package func looking(_ look: Look) -> FilterCase {
    FilterCase(
      dataSource: dataSource, polarPattern: polarPattern, inputOrientation: inputOrientation, look: look)
  }
}

/// A request made of valid words that the device does not support in this combination.
public struct Unsupported: Error, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}

extension Device {
  /// All filter cases that the device offers, ordered by data source.
  public var filterCases: [FilterCase] {
    dataSources.flatMap { source in
      source.polarPatterns.flatMap { pattern in
        pattern.isOriented
          ? source.stereoOrientations.map {
            FilterCase(dataSource: source.name, polarPattern: pattern, inputOrientation: $0)
          }
          : [FilterCase(dataSource: source.name, polarPattern: pattern, inputOrientation: nil)]
      }
    }
  }

  /// The filter case for `selection`.
  /// - Throws: `UnknownWord` for an unknown data source; `Unsupported` if the device does not offer the combination.
  public func filterCase(for selection: Selection) throws -> FilterCase {
    let source = try dataSource(named: selection.dataSource)
    guard source.polarPatterns.contains(selection.polarPattern) else {
      throw Unsupported(
        "data source \(source.name) of \(name) does not offer \(selection.polarPattern.rawValue); it offers "
          + source.polarPatterns.map(\.rawValue).joined(separator: ", "))
    }
    let orientation = selection.inputOrientation
    if selection.polarPattern.isOriented, !source.stereoOrientations.contains(orientation) {
      throw Unsupported(
        "data source \(source.name) of \(name) does not offer \(selection.polarPattern.rawValue) in \(orientation.rawValue); it offers \(selection.polarPattern.rawValue) in "
          + source.stereoOrientations.map(\.rawValue).joined(separator: ", "))
    }
    return FilterCase(
      dataSource: source.name, polarPattern: selection.polarPattern, inputOrientation: orientation)
  }
}

extension DataSource {
  /// The mono pattern that most people want first.
  public var monoPattern: PolarPattern {
    let mono = polarPatterns.filter { !$0.isOriented }
    return mono.contains(.cardioid) ? .cardioid : mono.first ?? defaultPolarPattern
  }
}
