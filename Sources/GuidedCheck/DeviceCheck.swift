import Acoustics
import Adaptation
import Rendering

/// The guided check of one device (S21). In each of its cases a voice speaks from the left, the right, the front and
/// behind, and each should come out where the listener of that case expects it.
public struct DeviceCheck: Sendable {
  /// The steps that take seconds before the check can run.
  public enum Step: Hashable, Sendable {
    /// Designing the device's filters, if they neither ship with it nor are cached.
    case designing
    /// Computing the sound field around the body of the array.
    case simulating
  }

  package let device: Device
  package let scene: CheckScene
  /// For each microphone of `device`, its channel in the scene.
  package let channels: [Int]
  private let filters: FilterSets

  /// What the reader must know about all cases; each continues "the array was".
  public var remarks: [String] {
    filters.bank.remarks + (device.calibration.map { [$0.remarkOnModel] } ?? [])
  }
  /// In the order in which they are checked.
  public var cases: [CheckCase] { scene.cases }

  /// - Parameters:
  ///   - device: the device whose filters are checked.
  ///   - look: of the device's only case, if it was made for one (`Device.ownDevice`).
  ///   - array: the device in the simulated sound field; nil for `device` itself. A check of a device in its own sound
  ///     field cannot find errors in the device file.
  ///   - bodyCache: a folder of solved boxes; nil for none.
  ///   - progress: called with the completed fraction of a step, 0…1, from any thread.
  /// - Throws: `CheckError` if `array` lacks a microphone of `device`; `Unsupported` if `device` offers no directional
  ///   pattern; `DesignError` or `SceneError` if the filters or the sound field cannot be computed.
  package init(
    of device: Device, look: Look? = nil, in array: Device? = nil, sampleRate: Int, bodyCache: String? = nil,
    progress: (@Sendable (Step, Double) -> Void)? = nil, mixing: (@Sendable (Double) -> Void)? = nil
  ) throws {
    let array = array ?? device
    self.device = device
    channels = try Self.channels(of: device, in: array)
    filters = try FilterSets(device: device, sampleRate: sampleRate) { progress?(.designing, $0) }
    let cases = CheckCase.all(
      of: filters.bank.offered(of: device),
      weaknesses: Dictionary(
        filters.bank.weaknesses.map { ($0.filterCase, $0.text) }, uniquingKeysWith: { first, _ in first }),
      look: look)
    guard !cases.isEmpty else {
      throw Unsupported(
        "\(device.name) offers no directional pattern, so there is nothing to check; check another device")
    }
    scene = try CheckScene(
      array: array, calibration: device.calibration, cases: cases, sampleRate: sampleRate,
      bodyCache: bodyCache,
      progress: { progress?(.simulating, $0) }, mixing: mixing)
  }

  /// Renders the voices through the device's filters, without a server. Takes a second or more.
  ///
  /// Thread: any.
  public func run() throws -> CheckResults { CheckResults(scene, try output()) }

  /// The outputs for the whole scene, rendered without a server.
  /// - Parameters:
  ///   - adaptation: how far stereo follows the sound, 0…1.
  ///   - progress: called with the fraction of the cases that are rendered, 0…1.
  /// - Throws: an `Unsupported` for an array whose stereo cannot follow the sound.
  package func output(adaptation: Double = 0, progress: ((Double) -> Void)? = nil) throws -> CheckOutput {
    let model =
      adaptation > 0 && cases.contains(where: \.isStereo)
      ? try AdaptiveModel(device, sampleRate: scene.sampleRate) : nil
    return try CheckOutput(
      scene, through: filters, of: device, channels: channels, adaptation: adaptation, model: model,
      progress: progress)
  }

  /// For each microphone of `device`, the index of the microphone of `array` with the same name.
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
