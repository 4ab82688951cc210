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
      Option("--format", "FORMAT", "\(Arguments.ambix): AmbiX B-format instead of the device's cases"),
      orderOption,
      withoutOption, hrtfOption, jsonOption,
    ]
  ) { arguments in
    let given = arguments.operands[0]
    let library = PresetLibrary.standard
    let whole = try arguments.withoutMicrophones(arguments.withHRTF(device(given, in: library)))
    let device =
      try arguments.onlyAmbisonics().map {
        try whole.ambisonics(arguments.preset(of: whole, in: library).main.selection.with($0, on: whole))
      } ?? whole
    var rates = try arguments.integers("--sample-rate", in: DesignGrid.sampleRates)
    if rates.isEmpty { rates = [48000] }
    let designs = try rates.map { try DesignRun(device: device, sampleRate: $0) }
    if arguments.isJSON {
      Tool.say(json: (["device": device.name, "designs": designs.map(\.json)] as JSONObject).text)
    } else {
      for design in designs { Tool.say(design.text) }
      if let folder = library.folders.first, (try? library.device(named: whole.name)) != whole {
        let others = if case .measured = whole.body { ", with the files that it names," } else { "" }
        Tool.say(
          "to use it, put \(given)\(others) into \(folder)/devices; then: pinna run --device \(device.name)")
      }
    }
    return .done
  }

  /// `PresetLibrary.device(_:in:)`, which names the devices that there are if there is no such file.
  static func device(_ given: String, in library: PresetLibrary) throws -> Device {
    if given.contains("/") || DescriptionName.extensions.contains(where: given.hasSuffix) {
      try InputPath.check(
        given, "give a device file, or the name of a device: \(library.deviceNames().joined(separator: ", "))"
      )
    }
    return try library.device(given)
  }
}

/// The design of a device at one sample rate, and how long it took.
struct DesignRun {
  let device: Device
  let bank: FilterBank
  let seconds: Double
  let isFromCache: Bool
  /// Why the filters are not in the cache; nil if they are.
  let notStored: String?

  init(device: Device, sampleRate: Int) throws {
    let start = ContinuousClock.now
    // Progress is reported only if filters are designed.
    let designed = Mutex(false)
    let show = WorkProgress.show("designing the filters of \(device.name) at \(sampleRate) Hz")
    self.device = device
    var fault: String?
    bank = try FilterBank.ready(
      device: device, sampleRate: sampleRate,
      progress: { fraction in
        designed.withLock { $0 = true }
        show(fraction)
      }, notStored: { fault = $0.systemReason })
    notStored = fault
    seconds = (ContinuousClock.now - start) / .seconds(1)
    isFromCache = !designed.withLock(\.self)
  }

  var text: String {
    let stored =
      notStored.map {
        "but not stored in the cache \(CacheFolder.path), so that they are designed each time: \($0.printable)"
      }
      ?? "and stored in the cache"
    let origin =
      isFromCache ? "were designed before" : String(format: "designed in %.1f s, ", seconds) + stored
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
      "notStored": notStored,
      "cases": bank.cases.count, "taps": bank.tapCount, "delayFrames": bank.delayFrames,
      "notOffered": bank.refusals.map { $0.filterCase.json + ["reason": $0.text] },
      "remarks": bank.remarks, "geometry": device.geometry?.remark,
      "weak": bank.weaknesses.map { $0.filterCase.json + ["reason": $0.text] },
    ]
  }
}
