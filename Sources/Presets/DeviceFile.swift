import Acoustics
import AudioFiles
import Glibc
import Text

/// Reads a device file. Lengths are in millimetres in the file and in metres in `Device`.
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
///
/// `body` is `free`, `{sphere: RADIUS}`, `{cylinder: RADIUS}` (without ends, its axis vertical), `{box: [X, Y, Z]}` or
/// a measurement: `{sofa: array.sofa}` or
/// `{impulseResponses: responses.wav, directions: directions.csv}`. File names are relative to the device file. The
/// receivers or channels of a measurement are the microphones in the order of this file. A SOFA file's listener is the
/// device looking out of its front, so SOFA's x, y, z (forward, left, up) are the device's z, x, y. The WAV file holds
/// the impulse responses of one direction after the other, all of the same length. The table has one line per
/// direction: azimuth (0 at the front, +z; 90 at +x) and elevation (90 at +y) in degrees.
///
/// `hrtf: head.sofa` names a SOFA file of two ears, whose HRTFs stereo uses instead of those of the packaged KEMAR.
///
/// `format` is the version of the format: 2, or 1 for files without any of the keys that follow. `placement` says what
/// the coordinates mean (`Placement`; default: upright). `geometry: {source, certainty, leavesOut}` says where they
/// come from, and `hardware: {usb, card, device, channels, rates, processed}` how the product shows itself to the computer. A
/// microphone can be `{position, channel, capsule, faces, gain, delay, polarity}` instead of its position alone.
///
/// `portType` is the type of the input (default: builtInMic), and `uid` its identifier (default: the device's name).
/// `capturePorts` and `playbackPorts` name the JACK ports that belong to it. `inputs` lists alternative inputs, each
/// described like a device: `{headset: {title: …, portType: headsetMic, body: free, microphones: …}}`. An alternative
/// input without `dataSources` has a single data source: its first microphone.
public enum DeviceFile {
  /// Reads a device, which is named after the file.
  public static func read(_ reader: YAMLReader) throws(DescriptionError) -> Device {
    try device(name: reader.fileName, from: reader)
  }

  static func device(name: String, from reader: YAMLReader, isFurtherInput: Bool = false)
    throws(DescriptionError) -> Device
  {
    let keys = [
      "format", "title", "placement", "body", "geometry", "hardware", "microphones", "dataSources", "hrtf",
      "portType", "uid", "capturePorts",
      "playbackPorts",
    ]
    if let design = reader.value(of: "design") {
      throw design.failure(
        "is no longer part of device files, because the body decides how filters are designed; remove it")
    }
    let fields = try reader.fields(keys + (isFurtherInput ? [] : ["inputs"]))
    try fields.optional("format")?.checkFormat()
    let title = try fields.required("title", example: "My array").string()
    let placement = try fields.optional("placement")?.word(Placement.self) ?? .upright
    let body = try fields.required("body", example: "{box: [72, 147, 8]}").body(placement)
    let microphones = try fields.required("microphones", example: "{left: [-50, 0, 0], right: [50, 0, 0]}")
      .microphones(on: body, placement)
    let described = fields.optional("dataSources")
    let sources =
      if isFurtherInput, described == nil {
        [DataSource.only]
      } else {
        try fields.required(
          "dataSources", example: "{Front: {forward: +z, microphones: all, polarPatterns: [stereo]}}"
        ).dataSources(of: microphones, placement)
      }
    let geometry = try fields.optional("geometry")?.geometry()
    let hardware = try fields.optional("hardware")?.hardware(microphones: microphones)
    let portType = try fields.optional("portType")?.inputType() ?? .builtInMic
    let hrtf = try fields.optional("hrtf")?.filePath(kind: "a SOFA file of a head")
    let design = try overrides()?.design(of: body)
    let uid = try fields.optional("uid")?.string()
    let capturePorts = try fields.optional("capturePorts")?.portNames() ?? []
    let playbackPorts = try fields.optional("playbackPorts")?.portNames(atMost: 2) ?? []
    let inputs = try fields.optional("inputs")?.furtherInputs(of: name) ?? []
    do {
      return try Device(
        name: name, title: title, body: body, placement: placement, geometry: geometry, hardware: hardware,
        microphones: microphones, dataSources: sources, portType: portType, hrtf: hrtf, design: design,
        uid: uid, capturePorts: capturePorts, playbackPorts: playbackPorts, inputs: inputs)
    } catch { throw reader.failure("is no device: \(error)") }
  }
}

extension DeviceFile {
  /// The file that PINNA_DESIGN names: it overrides parameters of the filter designs of all devices, for `tools/tune`.
  private static func overrides() throws(DescriptionError) -> YAMLReader? {
    guard let path = getenv("PINNA_DESIGN") else { return nil }
    return try YAMLReader(path: String(cString: path))
  }
}

extension YAMLReader {
  /// Reads a path, resolves it relative to this description file's folder, and checks that the file can be opened.
  func filePath(kind: String) throws(DescriptionError) -> String {
    let name = try string(limit: 1024)
    let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
    let path = name.hasPrefix("/") ? name : folder + name
    do { _ = try InputFile(path: path, kind: kind) } catch {
      throw failure("cannot be used: \(error.description.printable(limit: 2048))")
    }
    return path
  }

  /// Reads a list of three numbers, [x, y, z], each within `range`.
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

  /// Reads a direction in the file's frame: `+x`, `-x`, `+y`, `-y`, `+z`, `-z`, or `[x, y, z]` of any length but zero.
  public func direction() throws(DescriptionError) -> Direction {
    let axes: [String: Direction] = [
      "+x": .plusX, "-x": Direction.plusX.opposite, "+y": .plusY, "-y": Direction.plusY.opposite,
      "+z": .plusZ, "-z": Direction.plusZ.opposite,
    ]
    if let word = scalar {
      guard let axis = axes[word.lowercased()] else {
        throw failure("is \(word.quoted); write +x, -x, +y, -y, +z, -z or [x, y, z]")
      }
      return axis
    }
    guard let direction = Direction(try vector(in: -1e6...1e6, unit: "any one unit")) else {
      throw failure("is the zero vector; write +x, -x, +y, -y, +z, -z or [x, y, z]")
    }
    return direction
  }
}
