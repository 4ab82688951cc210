import Acoustics
import Messages

extension Verb {
  static let withoutOption = Option(
    "--without", "MICROPHONE", "as if this microphone did not work; may be given several times")
}

extension Arguments {
  /// `device` without the microphones of --without.
  func withoutMicrophones(_ device: Device) throws -> Device {
    let names = options["--without"] ?? []
    guard !names.isEmpty else { return device }
    let known = device.microphones.map(\.name)
    for name in names where !known.contains(name) {
      throw Failure(
        .usage, "\(device.name) has no microphone \"\(name)\"; it has \(known.joined(separator: ", "))")
    }
    let rest = device.without(microphones: Set(names))
    guard !rest.dataSources.isEmpty else {
      throw Failure(
        .unsupported,
        "without \(names.joined(separator: ", ")), no data source of \(device.name) is left; name fewer")
    }
    return rest
  }
}
