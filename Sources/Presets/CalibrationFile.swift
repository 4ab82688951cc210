import Acoustics
import AudioFiles
import FoundationEssentials
import Glibc
import Text

/// Reads and writes the file of what `pinna array calibrate` measured: `calibration/DEVICE.yaml` in the user's folder.
///
/// ```yaml
/// format: 1
/// device: uma8
/// date: 2026-11-23
/// method: 20 s of diffuse sound
/// source: file                          # live, file or simulated; optional
/// microphones:
///   rim-1: {gain: 1.2, delay: 7.5}      # dB too loud, µs late
///   rim-2: {polarity: inverted}
/// ```
/// Microphones that are missing do not deviate.
public enum CalibrationFile {
  /// The folder of the user's calibrations; nil if there is no folder for configuration.
  public static func folder(environment: [String: String]) -> String? {
    PresetFolders.configuration(environment: environment).map { $0 + "/calibration" }
  }

  public static func read(_ reader: YAMLReader, for device: Device) throws(DescriptionError) -> Calibration {
    let fields = try reader.fields(["format", "device", "date", "method", "source", "microphones"])
    _ = try fields.required("format", example: "1").number(in: 1...1, unit: "")
    let name = try fields.required("device", example: device.name)
    guard try name.string() == device.name else {
      throw name.failure("is not \(device.name); measure this device with: pinna array calibrate")
    }
    let date = try fields.required("date", example: "2026-11-23").string(limit: 40)
    let method = try fields.required("method", example: "20 s of diffuse sound").string()
    let source = try fields.optional("source")?.word(Calibration.Source.self)
    var deviations: [String: Deviation] = [:]
    for (name, value) in try fields.required("microphones", example: "{}").entries() {
      guard device.microphoneIndex(named: name) != nil else {
        let names = device.microphones.map(\.name)
        throw value.failure(
          "is not a microphone of \(device.name)\(didYouMean(name, among: names)); remove it, or measure again with: "
            + "pinna array calibrate")
      }
      deviations[name] = try value.fields(["gain", "delay", "polarity"]).deviation()
    }
    return Calibration(deviations: deviations, date: date, method: method, source: source)
  }

  /// The text of a calibration file.
  public static func text(_ calibration: Calibration, of device: Device) -> String {
    var lines = [
      "# Written by pinna array calibrate. Remove this file to use the device file's values alone.",
      "format: 1", "device: \(device.name)", "date: \"\(calibration.date)\"",
      "method: \"\(calibration.method)\"",
    ]
    if let source = calibration.source { lines.append("source: \(source.rawValue)") }
    let rows = device.microphones.compactMap { microphone -> String? in
      guard let deviation = calibration.deviations[microphone.name], deviation != .none else { return nil }
      var fields: [String] = []
      if deviation.gain.value != 0 { fields.append("gain: \(deviation.gain.value)") }
      if deviation.delay != 0 { fields.append("delay: \((deviation.delay * 1e7).rounded() / 10)") }
      if deviation.isInverted { fields.append("polarity: inverted") }
      return "  \(microphone.name): {\(fields.joined(separator: ", "))}"
    }
    lines.append(rows.isEmpty ? "microphones: {}" : "microphones:    # gain in dB, delay in microseconds")
    return (lines + rows).joined(separator: "\n") + "\n"
  }

  /// Writes `calibration` to `path` as a whole: a reader sees the old file or the new one. A link stays one: the file
  /// that it leads to is replaced.
  public static func write(_ calibration: Calibration, of device: Device, to path: String) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try OutputFile(url.resolvingSymlinksInPath().path, replacing: true, updating: true)
      .write(text(calibration, of: device).utf8)
  }
}
