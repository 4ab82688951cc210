import Acoustics
import Text

extension YAMLReader {
  static let dataSourceLimit = 32

  /// Reads `NAME: {forward, microphones, polarPatterns, …}`. IDs are assigned in file order.
  func dataSources(of microphones: [Microphone], _ placement: Placement) throws(DescriptionError)
    -> [DataSource]
  {
    let entries = try entries()
    guard !entries.isEmpty else { throw failure("is empty; add at least one data source, for example Front") }
    guard entries.count <= Self.dataSourceLimit else {
      throw failure("has \(entries.count) entries; keep at most \(Self.dataSourceLimit)")
    }
    var sources: [DataSource] = []
    for (name, value) in entries {
      try value.checkName(name, among: sources.map(\.name))
      let id = DataSource.firstID + UInt32(sources.count)
      sources.append(try value.dataSource(name: name, id: id, of: microphones, placement))
    }
    return sources
  }

  private func dataSource(
    name: String, id: UInt32, of microphones: [Microphone], _ placement: Placement
  ) throws(DescriptionError) -> DataSource {
    let fields = try fields([
      "location", "forward", "orientation", "microphones", "polarPatterns", "stereoOrientations",
    ])
    let forward = placement.turned(try fields.required("forward", example: "+z").direction())
    let used = try fields.required("microphones", example: "all").microphoneIndices(of: microphones)
    let patterns = try fields.required("polarPatterns", example: "[omnidirectional, stereo]")
      .polarPatterns(microphonesUsed: used.count, ofAll: microphones.count)
    return DataSource(
      name: name, id: id, location: try fields.optional("location")?.word(DataSource.Location.self),
      orientation: try fields.optional("orientation")?.word(DataSource.Orientation.self)
        ?? DataSource.Orientation(facing: forward, placement),
      forward: forward, microphones: used, polarPatterns: patterns,
      stereoOrientations: try stereoOrientations(
        fields.optional("stereoOrientations"), forward: forward, placement,
        offered: patterns.contains(.stereo)))
  }

  /// Reads `all`, or a list of names whose first microphone is the one that the omnidirectional pattern uses.
  private func microphoneIndices(of microphones: [Microphone]) throws(DescriptionError) -> [Int] {
    if let word = scalar {
      guard word.lowercased() == "all" else {
        throw failure("is \(word.quoted); write all, or a list of names, [\(microphones[0].name)]")
      }
      return Array(microphones.indices)
    }
    let names = microphones.map(\.name)
    let listed = try different(\.self) { (element) throws(DescriptionError) in
      let name = try element.string()
      guard names.contains(name) else {
        throw element.failure("is an \(UnknownWord(kind: "microphone", word: name, choices: names))")
      }
      return name
    }
    guard !listed.isEmpty else {
      throw failure("is empty; write all, or the name of at least one microphone")
    }
    return listed.map { names.firstIndex(of: $0)! }
  }

  private func polarPatterns(microphonesUsed used: Int, ofAll all: Int) throws(DescriptionError)
    -> [PolarPattern]
  {
    let patterns = try different(\.rawValue) { (element) throws(DescriptionError) in
      let pattern = try element.word(PolarPattern.self)
      if let text = DataSource.fault(of: pattern, microphonesUsed: used, ofAll: all) {
        throw element.failure(text)
      }
      return pattern
    }
    guard !patterns.isEmpty else {
      throw failure(
        "is empty; use one or more of: \(PolarPattern.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return patterns
  }

  /// Reads the list of orientations. If it is missing, returns every orientation of the placement whose up is not
  /// parallel to `forward`.
  /// - Parameter offered: whether the data source offers stereo.
  private func stereoOrientations(
    _ listed: YAMLReader?, forward: Direction, _ placement: Placement, offered: Bool
  ) throws(DescriptionError) -> [InputOrientation] {
    func fault(_ orientation: InputOrientation) -> String? {
      DataSource.fault(of: orientation, forward: forward, placement)
    }
    guard let listed else { return offered ? placement.orientations.filter { fault($0) == nil } : [] }
    guard offered else {
      throw listed.failure(
        "is given, but polarPatterns does not list stereo; add stereo there, or remove this key")
    }
    let orientations = try listed.different(\.rawValue) { (element) throws(DescriptionError) in
      let orientation = try element.word(InputOrientation.self)
      if let text = fault(orientation) { throw element.failure(text) }
      return orientation
    }
    guard !orientations.isEmpty else {
      throw listed.failure("is empty; list at least one orientation, or remove stereo from polarPatterns")
    }
    return orientations
  }

  /// Reads a list, and refuses elements that repeat another one.
  /// - Parameter title: what messages call a value.
  private func different<Value: Equatable>(
    _ title: (Value) -> String, _ read: (YAMLReader) throws(DescriptionError) -> Value
  ) throws(DescriptionError) -> [Value] {
    var values: [Value] = []
    for element in try list() {
      let value = try read(element)
      guard !values.contains(value) else { throw element.failure("repeats \(title(value)); remove it") }
      values.append(value)
    }
    return values
  }
}

extension DataSource {
  /// The ID of the first data source, as the seeds print it: the four-character code 'mc01'.
  public static let firstID: UInt32 = 1_835_216_945
}

extension DataSource.Orientation {
  /// The face of the device nearest to the direction `forward`. Left and right are those of whoever faces the device;
  /// of a device that nobody faces, those of its drawing or its wearer.
  init(facing forward: Direction, _ placement: Placement) {
    let isFaced = placement.isFaced
    switch DeviceEdge(nearest: forward) {
    case .left: self = isFaced ? .left : .right
    case .right: self = isFaced ? .right : .left
    case .bottom: self = .bottom
    case .top: self = .top
    case .back: self = .back
    case .front: self = .front
    }
  }
}
