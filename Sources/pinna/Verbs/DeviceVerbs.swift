import Acoustics
import AudioFiles
import FoundationEssentials
import Glibc
import HeadResponses
import Manifolds
import Messages
import Plots
import Presets
import Settings
import Text

/// Verbs that write and check device files.
extension Verb {
  static let deviceNew = Verb(
    name: "device new", operands: ["SHAPE", "NAME"],
    summary:
      "write the device file NAME.yaml of a ring, line, grid, box or sphere, or of this laptop's microphones, and draw it",
    options: [
      Option("--microphones", "N", "number of microphones without the centre (default: 6, on a box 4)"),
      Option("--radius", "MM", "ring and sphere: radius in millimetres (default: 40)"),
      Option(
        "--spacing", "MM",
        "line and grid: distance of neighbours in millimetres (default: 40); laptop: measured, in place of the firmware's"
      ),
      Option("--columns", "N", "grid: microphones in a row (default: 4)"),
      Option("--rows", "N", "grid: rows (default: as many as columns)"),
      Option(
        "--size", "X,Y,Z", "box: edges in millimetres (default: 72,147,8); laptop: of the lid (default: none)"
      ),
      Option("--centre", nil, "ring and box: one more microphone in the centre"),
      Option("--card", "CARD", "laptop: number or ID of its sound card (default: the only one)"),
      Option(
        "--placement", "WORD",
        "table, upright, camera or worn (default: table; line, box and sphere: upright)"),
      Option("--format", "FORMAT", "format of the picture: svg, png (default: svg)"),
      Option("--force", nil, "replace files of these names"), jsonOption,
    ]
  ) { arguments in
    let template = try newDevice(arguments)
    let path = arguments.operands[1]
    let stem =
      DescriptionName.extensions.first(where: path.hasSuffix).map { String(path.dropLast($0.count)) } ?? path
    let name = URL(filePath: stem).lastPathComponent
    guard DescriptionName.isValid(name), !path.hasSuffix("/") else {
      throw Failure(.usage, "\(path.quoted) is not usable as a device name; use letters, digits, - _ and .")
    }
    let format = try arguments["--format"].map { try PlotFormat(word: $0) } ?? .svg
    let replaces = arguments.has("--force")
    let (file, image) = ("\(stem).yaml", "\(stem).\(format.rawValue)")
    let picture = try OutputFile(picture: image, replacing: replaces)
    let description = try OutputFile(file, replacing: replaces)
    let text = template.text(name)
    let device: Device
    do { device = try DeviceFile.read(YAMLReader(text: text, file: file)) } catch {
      throw Failure(.usage, "these numbers describe no usable device: \(error)")
    }
    // The picture first: a file without one would be in the way of the next attempt.
    try PositionPlot(device).write(picture)
    try description.write(text.utf8)
    let used = file.contains("/") ? file : "./\(file)"
    arguments.print(
      json: ["file": file, "picture": image] + DeviceSummary(device: device).json,
      text: """
        wrote \(file) and drew \(image); \(template.advice), then
          pinna device check \(file)
          pinna run --device \(used) --connect
        """ + (template.isLaptop ? "\n  pinna array check --device \(used) --live --guided" : ""))
    return .done
  }

  static let deviceCheck = Verb(
    name: "device check", operands: ["DEVICE.yaml"],
    summary: "read a device, given by its file or name, say what it describes, and point at mistakes",
    options: [
      Option("--picture", "FILE", "also draw it to this .svg or .png file, from the front and from above"),
      Option("--force", nil, "replace the file of --picture"), jsonOption,
    ]
  ) { arguments in
    let picture = try arguments["--picture"].map {
      try OutputFile(picture: $0, replacing: arguments.has("--force"))
    }
    let device = try device(arguments.operands[0], in: .standard)
    try device.checkMeasurements()
    if let picture { try PositionPlot(device).write(picture) }
    let summary = DeviceSummary(device: device)
    arguments.print(json: summary.json, text: summary.text)
    return .done
  }

  private static func newDevice(_ arguments: Arguments) throws -> NewDevice {
    let word = try ArrayShape(word: arguments.operands[0])
    for option in [
      "--microphones", "--radius", "--spacing", "--columns", "--rows", "--size", "--centre", "--card",
      "--placement",
    ] where !word.options.contains(option) && arguments.has(option) {
      throw Failure(
        .usage, "a \(word.rawValue) has no \(option); it has \(word.options.joined(separator: ", "))")
    }
    guard word != .laptop else { return try laptop(arguments) }
    let template = try arrayTemplate(word, arguments)
    return NewDevice(text: template.text, advice: "correct the positions", isLaptop: false)
  }

  private static func arrayTemplate(_ word: ArrayShape, _ arguments: Arguments) throws -> ArrayTemplate {
    let count = try arguments.integer("--microphones", in: 1...63)
    let shape: ArrayTemplate.Shape
    switch word {
    case .ring:
      shape = .ring(
        microphones: count ?? 6, radius: try arguments.millimetres("--radius", in: 5...2000) ?? 40)
    case .line:
      shape = .line(
        microphones: count ?? 6, spacing: try arguments.millimetres("--spacing", in: 1...1000) ?? 40)
    case .grid:
      let columns = try arguments.integer("--columns", in: 1...32) ?? 4
      shape = .grid(
        columns: columns, rows: try arguments.integer("--rows", in: 1...32) ?? columns,
        spacing: try arguments.millimetres("--spacing", in: 1...1000) ?? 40)
    case .box:
      shape = .box(microphones: count ?? 4, size: try arguments.size() ?? [72, 147, 8])
    case .sphere:
      shape = .sphere(
        microphones: count ?? 6, radius: try arguments.millimetres("--radius", in: 5...2000) ?? 40)
    case .laptop: preconditionFailure("a laptop has a template of its own")
    }
    let placement = try arguments["--placement"].map { try Placement(word: $0) }
    return ArrayTemplate(shape, placement: placement ?? word.placement, hasCentre: arguments.has("--centre"))
  }
}

extension Device {
  /// Reads the files of measurements that the device, or another input in its file, names.
  /// - Throws: `DesignError` if one is not what its name says.
  fileprivate func checkMeasurements() throws {
    for input in [self] + inputs {
      if case .measured = input.body { _ = try manifold(for: input) }
      if let hrtf = input.hrtf { _ = try HRTF(path: hrtf) }
    }
  }
}

/// The device file that `pinna device new` is about to write.
struct NewDevice {
  /// Of the file, from the device's name.
  let text: (_ name: String) -> String
  /// What to do with the file first.
  let advice: String
  let isLaptop: Bool
}

/// The shapes of `pinna device new`.
private enum ArrayShape: String, NamedWord {
  case ring, line, grid, box, sphere, laptop
  static let kind = "shape of an array"

  var options: [String] {
    switch self {
    case .ring: ["--microphones", "--radius", "--centre", "--placement"]
    case .line: ["--microphones", "--spacing", "--placement"]
    case .grid: ["--columns", "--rows", "--spacing", "--placement"]
    case .box: ["--microphones", "--size", "--centre", "--placement"]
    case .sphere: ["--microphones", "--radius", "--placement"]
    case .laptop: ["--microphones", "--spacing", "--size", "--card"]
    }
  }

  var placement: Placement {
    switch self {
    case .ring, .grid: .table
    case .line, .box, .sphere: .upright
    case .laptop: .camera
    }
  }
}

extension Arguments {
  /// The value of `option` within `range`, in millimetres; nil if it was not given.
  func millimetres(_ option: String, in range: ClosedRange<Double>) throws(Failure) -> Double? {
    guard let text = self[option] else { return nil }
    guard let number = text.decimal, range.contains(number) else {
      throw Failure(
        .usage,
        "\(option) \(text.printable(limit: 40)) is not usable; give millimetres from "
          + "\(Int(range.lowerBound)) to \(Int(range.upperBound))")
    }
    return number
  }

  /// The value of --size in millimetres; nil if it was not given.
  func size() throws(Failure) -> SIMD3<Double>? {
    guard let text = self["--size"] else { return nil }
    let numbers = list("--size").map(\.decimal)
    guard numbers.count == 3, numbers.allSatisfy({ $0.map((1...500).contains) ?? false }) else {
      throw Failure(
        .usage,
        "--size \(text.printable(limit: 40)) is not usable; give three edges from 1 to 500 mm, such as 72,147,8"
      )
    }
    return [numbers[0]!, numbers[1]!, numbers[2]!]
  }
}
