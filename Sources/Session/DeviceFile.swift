import Acoustics

/// Reads a device file: title, body, microphones, data sources. Lengths are in millimetres in the file and in
/// metres in the device.
///
/// ```yaml
/// title: Two microphones on a stick
/// body: free
/// microphones:
///   left: [-50, 0, 0]
///   right: [50, 0, 0]
/// dataSources:
///   Front:
///     forward: +z
///     microphones: all
///     polarPatterns: [omnidirectional, stereo]
/// ```
public enum DeviceFile {
  /// The device that the file at `path` describes, named after the file.
  public static func read(path: String) throws(DescriptionError) -> Device {
    try device(name: DescriptionName.of(path: path), from: YAMLReader(path: path))
  }

  /// The device that `text` describes; messages call the text `file`.
  public static func read(text: String, name: String, file: String) throws(DescriptionError) -> Device {
    try device(name: name, from: YAMLReader(text: text, file: file))
  }

  static func device(name: String, from reader: YAMLReader) throws(DescriptionError) -> Device {
    let fields = try reader.fields(["title", "body", "microphones", "dataSources"])
    let title = try fields.required("title", example: "My array").string()
    let body = try fields.required("body", example: "{box: [72, 147, 8]}").body()
    let microphones = try fields.required("microphones", example: "{left: [-50, 0, 0], right: [50, 0, 0]}")
      .microphones(on: body)
    let sources = try fields.required(
      "dataSources", example: "{Front: {forward: +z, microphones: all, polarPatterns: [stereo]}}")
    return Device(
      name: name, title: title, body: body, microphones: microphones,
      dataSources: try sources.dataSources(of: microphones))
  }
}

extension YAMLReader {
  /// `free`, `{sphere: RADIUS}` or `{box: [X, Y, Z]}`.
  fileprivate func body() throws(DescriptionError) -> Body {
    let forms = "write free, {sphere: RADIUS} or {box: [X, Y, Z]}, in millimetres"
    if let word = scalar {
      guard word.lowercased() == "free" else { throw failure("is \(quoted(word)); \(forms)") }
      return .free
    }
    guard case .mapping(let entries) = node.content, entries.count == 1 else {
      throw failure("is not one body; \(forms)")
    }
    let fields = try self.fields(["sphere", "box"])
    if let radius = fields.optional("sphere") {
      return .sphere(radius: try radius.number(in: 5...2000, unit: "mm") / 1000)
    }
    let size = try fields.required("box", example: "[72, 147, 8]").vector(in: 1...4000, unit: "mm")
    return .box(size: size / 1000)
  }

  /// Three numbers: x, y, z.
  public func vector(in range: ClosedRange<Double>, unit: String) throws(DescriptionError) -> SIMD3<Double> {
    let numbers = try list()
    guard numbers.count == 3 else {
      throw failure("has \(numbers.count) numbers; write three, [x, y, z], in \(unit)")
    }
    return [
      try numbers[0].number(in: range, unit: unit), try numbers[1].number(in: range, unit: unit),
      try numbers[2].number(in: range, unit: unit),
    ]
  }

  /// A direction of the device frame: `+x`, `-x`, `+y`, `-y`, `+z`, `-z`, or `[x, y, z]` of any length.
  public func direction() throws(DescriptionError) -> Direction {
    let axes: [String: Direction] = [
      "+x": .plusX, "-x": Direction.plusX.opposite, "+y": .plusY, "-y": Direction.plusY.opposite,
      "+z": .plusZ, "-z": Direction.plusZ.opposite,
    ]
    if let word = scalar {
      guard let axis = axes[word.lowercased()] else {
        throw failure("is \(quoted(word)); write +x, -x, +y, -y, +z, -z or [x, y, z]")
      }
      return axis
    }
    guard let direction = Direction(try vector(in: -1e6...1e6, unit: "any one unit")) else {
      throw failure("has no length; write +x, -x, +y, -y, +z, -z or [x, y, z]")
    }
    return direction
  }
}
