import Acoustics

/// Reads and writes a preset file.
///
/// ```yaml
/// title: Stereo in the direction of the camera
/// device: phone5
/// dataSource: Back
/// polarPattern: stereo
/// inputOrientation: portrait
/// gain: 0       # dB, -60 to 24; optional
/// highPass: 80  # Hz, 20 to 400, or off; optional
/// ```
public enum PresetFile {
  /// Reads the preset file at `path`. The preset is named after the file.
  /// - Parameter device: returns the device with a given name.
  /// - Throws: `DescriptionError` for an error in the preset file or in the device file that it names.
  public static func read(path: String, device: (String) throws -> Device) throws(DescriptionError) -> Preset
  {
    try preset(name: DescriptionName.of(path: path), from: YAMLReader(path: path), device: device)
  }

  /// Reads a preset from `text`. Error messages call it `file`.
  public static func read(text: String, name: String, file: String, device: (String) throws -> Device)
    throws(DescriptionError) -> Preset
  {
    try preset(name: name, from: YAMLReader(text: text, file: file), device: device)
  }

  /// The text of a preset file for `preset`.
  public static func text(of preset: Preset) -> String {
    let title = preset.title.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    return """
      title: "\(title)"
      device: "\(preset.device)"
      dataSource: "\(preset.selection.dataSource)"
      polarPattern: \(preset.selection.polarPattern.rawValue)
      inputOrientation: \(preset.selection.inputOrientation.rawValue)
      gain: \(preset.gain.value)
      highPass: \(preset.highPass.word)

      """
  }

  private static func preset(name: String, from reader: YAMLReader, device: (String) throws -> Device)
    throws(DescriptionError) -> Preset
  {
    let fields = try reader.fields([
      "title", "device", "dataSource", "polarPattern", "inputOrientation", "gain", "highPass",
    ])
    let title = try fields.required("title", example: "My preset").string()
    let device = try fields.required("device", example: "phone5").device(device)
    let source = try fields.required("dataSource", example: "Front").dataSource(of: device)
    let pattern = try fields.required("polarPattern", example: "stereo")
    let orientation = try fields.required("inputOrientation", example: "portrait")
    let selection = Selection(
      dataSource: source.name, polarPattern: try pattern.word(PolarPattern.self),
      inputOrientation: try orientation.word(InputOrientation.self))
    do {
      _ = try device.filterCase(for: selection)
    } catch {
      let offered = source.polarPatterns.contains(selection.polarPattern)
      throw (offered ? orientation : pattern).failure("is not possible: \(error)")
    }
    let gain = try fields.optional("gain")?.number(in: Preset.gainRange, unit: "dB") ?? 0
    return Preset(
      name: name, title: title, device: device.name, selection: selection, gain: Decibels(gain),
      highPass: try fields.optional("highPass")?.highPass() ?? .off)
  }
}

extension YAMLReader {
  /// Reads the name of a device and returns the device.
  public func device(_ find: (String) throws -> Device) throws(DescriptionError) -> Device {
    let name = try string()
    do {
      return try find(name)
    } catch let error as DescriptionError {
      throw error
    } catch {
      throw failure("cannot be used: \(error)")
    }
  }

  /// Reads a corner frequency in hertz, or "off".
  func highPass() throws(DescriptionError) -> HighPass {
    if let text = try? string(), text.lowercased() == "off" { return .off }
    return .on(Hertz(try number(in: HighPass.range, unit: "Hz, or off")))
  }

  /// Reads the name of a data source of `device`, ignoring case.
  public func dataSource(of device: Device) throws(DescriptionError) -> DataSource {
    let name = try string()
    do { return try device.dataSource(named: name) } catch { throw failure("is an \(error.quotable)") }
  }
}
