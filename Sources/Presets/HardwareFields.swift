import Acoustics
import Text

extension YAMLReader {
  /// The version of the format that this program reads; earlier ones, too.
  static let deviceFormat = 2

  /// Refuses a later format.
  func checkFormat() throws(DescriptionError) {
    guard try wholeNumber(in: 1...1_000_000) <= Self.deviceFormat else {
      throw failure(
        "is a later format than this Pinna reads, which is \(Self.deviceFormat); use a newer Pinna, or write the file in that format"
      )
    }
  }

  /// Reads `{source: TEXT, certainty: published, leavesOut: TEXT}`.
  func geometry() throws(DescriptionError) -> Geometry {
    let fields = try fields(["source", "certainty", "leavesOut"])
    return Geometry(
      source: try fields.required("source", example: "the maker's data sheet").string(),
      certainty: try fields.required("certainty", example: "published").word(Geometry.Certainty.self),
      leavesOut: try fields.optional("leavesOut")?.string(limit: 400))
  }

  /// Reads `{usb: ["2886:0018"], card: [NAME], device: 0, channels: 6, rates: [16000], processed: {1: TEXT}}`.
  func hardware(microphones: [Microphone]) throws(DescriptionError) -> Hardware {
    let fields = try fields(["usb", "card", "device", "channels", "rates", "processed"])
    let channels = try fields.required("channels", example: "\(microphones.count)")
    let count = try channels.wholeNumber(in: 1...256)
    let highest = microphones.enumerated().map { $1.channel ?? $0 + 1 }.max() ?? 0
    guard count >= highest else {
      throw channels.failure(
        "is \(count), but a microphone is on capture channel \(highest); correct either")
    }
    return Hardware(
      usb: try fields.optional("usb")?.elements { (id) throws(DescriptionError) in try id.usbID() } ?? [],
      cards: try fields.optional("card")?.elements { (name) throws(DescriptionError) in try name.string() }
        ?? [],
      device: try fields.optional("device")?.wholeNumber(in: 0...999) ?? 0,
      channels: count,
      rates: try fields.required("rates", example: "[48000]").elements { (rate) throws(DescriptionError) in
        try rate.wholeNumber(in: 8000...192_000)
      },
      processed: try fields.optional("processed")?.remedies() ?? [:])
  }

  /// Reads four hexadecimal digits, a colon, and four more, in quotation marks.
  private func usbID() throws(DescriptionError) -> String {
    let text = try string()
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 4 && $0.allSatisfy(\.isHexDigit) }) else {
      throw failure("is \(text.quoted); write vendor and product as lsusb does, \"2886:0018\"")
    }
    return text.lowercased()
  }

  /// Reads `{CHANNELS: TEXT}`.
  private func remedies() throws(DescriptionError) -> [Int: String] {
    var remedies: [Int: String] = [:]
    for (key, value) in try entries() {
      guard let channels = Int(key), (1...256).contains(channels) else {
        throw value.failure("has a key that is not a number of channels; write \"1: what to do\"")
      }
      remedies[channels] = try value.string(limit: 400)
    }
    return remedies
  }

  func wholeNumber(in range: ClosedRange<Int>) throws(DescriptionError) -> Int {
    let value = try number(in: Double(range.lowerBound)...Double(range.upperBound), unit: "")
    guard value == value.rounded() else { throw failure("is \(value); write a whole number") }
    return Int(value)
  }
}
