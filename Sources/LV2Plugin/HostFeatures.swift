import CLV2
import Threads

/// What a host offers, as far as this plug-in uses it.
struct HostFeatures {
  /// Nil if the host has no worker.
  private(set) var schedule: LV2_Worker_Schedule?
  /// In frames; nil if the host does not say.
  private(set) var blockLength: Int?
  private var logger: (log: UnsafePointer<LV2_Log_Log>, error: LV2_URID)?

  init(_ features: UnsafePointer<UnsafePointer<LV2_Feature>?>?) {
    var data: [String: UnsafeMutableRawPointer] = [:]
    var next = features
    while let feature = next?.pointee {
      if let address = feature.pointee.data { data[String(cString: feature.pointee.URI)] = address }
      next = next?.successor()
    }
    schedule = data[LV2URI.workerSchedule]?.load(as: LV2_Worker_Schedule.self)
    guard let map = data[LV2URI.uridMap]?.load(as: LV2_URID_Map.self) else { return }
    func number(_ uri: String) -> LV2_URID { map.map(map.handle, uri) }
    if let log = data[LV2URI.log] {
      logger = (UnsafePointer(log.assumingMemoryBound(to: LV2_Log_Log.self)), number(LV2URI.logError))
    }
    var option = data[LV2URI.options]?.assumingMemoryBound(to: LV2_Options_Option.self)
    var lengths: [LV2_URID: Int] = [:]
    while let given = option?.pointee, given.key != 0 {
      if given.type == number(LV2URI.atomInt), given.size == 4, let value = given.value?.load(as: Int32.self),
        value > 0
      {
        lengths[given.key] = Int(value)
      }
      option = option?.successor()
    }
    blockLength = lengths[number(LV2URI.nominalBlockLength)] ?? lengths[number(LV2URI.maxBlockLength)]
  }

  /// Says `text` in the host's log, or else on standard error.
  func log(_ text: String) {
    guard let logger else {
      Descriptor.writeAll((text + "\n").utf8, to: 2)
      return
    }
    pinna_lv2_log(logger.log, logger.error, text)
  }
}
