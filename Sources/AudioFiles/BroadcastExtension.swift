import CSndfile

/// The Broadcast Wave extension (EBU Tech 3285), which says when a take was recorded.
public struct BroadcastExtension: Sendable, Hashable {
  public let description: String
  /// Local date of the first frame, such as "2026-11-21".
  public let date: String
  /// Local time of the first frame, such as "17:04:05".
  public let time: String
  /// Frames from local midnight to the first frame.
  public let timeReference: Int
  public let originator: String

  /// Empty values that reserve space in the header until the real ones are known.
  public static let unknown = BroadcastExtension(description: "", date: "", time: "", timeReference: 0)

  public init(description: String, date: String, time: String, timeReference: Int, originator: String = own) {
    self.description = description
    self.date = date
    self.time = time
    self.timeReference = timeReference
    self.originator = originator
  }

  /// The originator of all that Pinna writes.
  public static let own = "Pinna"

  /// Whether the file is a take's: what Pinna renders and simulates says so where a take says what was recorded.
  var isRecording: Bool { originator == Self.own && description.contains(Self.recorded) }

  /// In the description of takes.
  public static let recorded = ", recorded by "

  var info: SF_BROADCAST_INFO {
    var info = SF_BROADCAST_INFO()
    withUnsafeMutableBytes(of: &info.description) { Self.put(description, $0) }
    withUnsafeMutableBytes(of: &info.originator) { Self.put(originator, $0) }
    withUnsafeMutableBytes(of: &info.origination_date) { Self.put(date, $0) }
    withUnsafeMutableBytes(of: &info.origination_time) { Self.put(time, $0) }
    info.time_reference_low = UInt32(truncatingIfNeeded: timeReference)
    info.time_reference_high = UInt32(truncatingIfNeeded: timeReference >> 32)
    // EBU Tech 3285: 0x7FFF means not measured.
    info.loudness_value = 0x7FFF
    info.loudness_range = 0x7FFF
    info.max_true_peak_level = 0x7FFF
    info.max_momentary_loudness = 0x7FFF
    info.max_shortterm_loudness = 0x7FFF
    return info
  }

  private static func put(_ text: String, _ field: UnsafeMutableRawBufferPointer) {
    field.copyBytes(from: text.unicodeScalars.map { $0.isASCII ? UInt8($0.value) : 0x3F }.prefix(field.count))
  }
}
