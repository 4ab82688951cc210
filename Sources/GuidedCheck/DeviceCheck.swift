import Acoustics
import Rendering

/// The guided check of one device (S21). In each of its cases a voice speaks from the left, the right, the front and
/// behind, and each should come out where the listener of that case expects it.
public struct DeviceCheck: Sendable {
  /// What takes seconds before sound flows.
  public enum Step: Hashable, Sendable {
    /// Designing the device's filters, where they neither ship nor are kept from an earlier design.
    case designing
    /// Computing how sound goes around the body that stands in the sound field.
    case simulating
  }

  package let device: Device
  package let scene: CheckScene
  /// Of each microphone of `device`, its channel in the scene.
  package let channels: [Int]
  private let filters: FilterSets

  /// In the order in which they are checked.
  public var cases: [CheckCase] { scene.cases }

  /// - Parameters:
  ///   - device: whose filters are checked.
  ///   - array: the device that stands in the sound field; nil for `device` itself, whose own file then describes both.
  ///   - progress: called with what part of a step is done, 0…1, from any thread.
  /// - Throws: `CheckError` where `array` lacks a microphone of `device`, `Unsupported` where `device` offers nothing
  ///   that tells directions apart.
  package init(
    of device: Device, in array: Device? = nil, sampleRate: Int,
    progress: (@Sendable (Step, Double) -> Void)? = nil
  ) throws {
    let array = array ?? device
    self.device = device
    channels = try Self.channels(of: device, in: array)
    filters = try FilterSets(device: device, sampleRate: sampleRate) { progress?(.designing, $0) }
    let cases = CheckCase.all(of: filters.bank.offered(of: device))
    guard !cases.isEmpty else {
      throw Unsupported(
        "\(device.name) offers no pattern that tells directions apart, so that there is nothing to check")
    }
    scene = try CheckScene(array: array, cases: cases, sampleRate: sampleRate) { progress?(.simulating, $0) }
  }

  /// Sends the voices through the device's filters, without a server. Takes a second or more; any thread.
  public func run() throws -> CheckResults { CheckResults(scene, try output()) }

  /// What comes out while the voices speak, without a server.
  package func output() throws -> CheckOutput {
    try CheckOutput(scene, through: filters, of: device, channels: channels)
  }

  /// Where the microphones of `device` are in `array`, by their names.
  private static func channels(of device: Device, in array: Device) throws(CheckError) -> [Int] {
    var channels: [Int] = []
    for microphone in device.microphones {
      guard let channel = array.microphoneIndex(named: microphone.name) else {
        throw CheckError(
          "\(array.name) has no microphone \"\(microphone.name)\", which \(device.name) has; give an array with "
            + "the same microphones")
      }
      channels.append(channel)
    }
    return channels
  }
}

/// Why a device cannot be checked, as one sentence.
public struct CheckError: Error, Hashable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
