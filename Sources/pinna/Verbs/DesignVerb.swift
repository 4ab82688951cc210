import Acoustics
import FilterBanks
import FilterDesign
import Messages
import Presets
import Synchronization
import Text

extension Verb {
  static let design = Verb(
    name: "design", operands: ["DEVICE.yaml"],
    summary: "design all filter sets of a device, given by its file or name, and store them in the cache",
    options: [
      Option("--sample-rate", "HZ", "sample rate; may be given several times (default: 48000)"),
      withoutOption, hrtfOption, jsonOption,
    ]
  ) { arguments in
    let given = arguments.operands[0]
    let library = PresetLibrary.standard
    let device = try arguments.withoutMicrophones(arguments.withHRTF(device(given, in: library)))
    var rates = try arguments.integers("--sample-rate", in: DesignGrid.sampleRates)
    if rates.isEmpty { rates = [48000] }
    let designs = try rates.map { try DesignRun(device: device, sampleRate: $0) }
    if arguments.isJSON {
      print((["device": device.name, "designs": designs.map(\.json)] as JSONObject).text)
    } else {
      for design in designs { print(design.text) }
      if let folder = library.folders.first, (try? library.device(named: device.name)) != device {
        print(
          "to use it, put \(given) into \(folder)/devices, and a preset with \"device: \(device.name)\" into \(folder)"
        )
      }
    }
    return .done
  }

  /// Reads the device from a file, or finds it in the library by its name.
  /// - Parameter given: a path if it contains "/" or ends like a device file; otherwise a name.
  static func device(_ given: String, in library: PresetLibrary) throws -> Device {
    let isFile = DescriptionName.extensions.contains(where: given.hasSuffix)
    guard given.contains("/") || isFile else {
      return try library.device(named: given)
    }
    try InputPath.check(
      given, "give a device file, or the name of a device: \(library.deviceNames().joined(separator: ", "))")
    let device = try library.device(path: given)
    guard DescriptionName.isValid(device.name), isFile else {
      throw Failure(
        .failed,
        "\(given) is not a valid device file name; use letters, digits, - _ and ., and end it with .yaml"
      )
    }
    return device
  }
}

/// The design of a device at one sample rate, and how long it took.
struct DesignRun {
  let device: Device
  let bank: FilterBank
  let seconds: Double
  let isFromCache: Bool

  init(device: Device, sampleRate: Int) throws {
    let start = ContinuousClock.now
    // Progress is reported only if filters are designed.
    let designed = Mutex(false)
    let show = WorkProgress.show("designing the filters of \(device.name) at \(sampleRate) Hz")
    self.device = device
    bank = try FilterBank.ready(device: device, sampleRate: sampleRate) { fraction in
      designed.withLock { $0 = true }
      show(fraction)
    }
    seconds = (ContinuousClock.now - start) / .seconds(1)
    isFromCache = !designed.withLock(\.self)
  }

  var text: String {
    let origin =
      isFromCache
      ? "were designed before" : String(format: "designed in %.1f s, and stored in the cache", seconds)
    let offered =
      "\(device.name): \(bank.cases.count) case\(bank.cases.count == 1 ? "" : "s") at \(bank.sampleRate) Hz \(origin); \(bank.tapCount) taps, "
      + "\(bank.delayFrames) frames of delay"
    let remarks =
      (device.geometry.map { ["  \($0.remark)"] } ?? [])
      + bank.remarks.map { "  the array was \($0)" }
      + bank.refusals.map { "  not offered: \($0.filterCase.name): \($0.text)" }
      + bank.weaknesses.map { "  weak: \($0.filterCase.name): \($0.text)" }
    return ([offered] + remarks).joined(separator: "\n")
  }

  var json: JSONObject {
    [
      "sampleRate": bank.sampleRate, "seconds": seconds, "fromCache": isFromCache,
      "cases": bank.cases.count, "taps": bank.tapCount, "delayFrames": bank.delayFrames,
      "notOffered": bank.refusals.map { $0.filterCase.json + ["reason": $0.text] },
      "remarks": bank.remarks, "geometry": device.geometry?.remark,
      "weak": bank.weaknesses.map { $0.filterCase.json + ["reason": $0.text] },
    ]
  }
}
