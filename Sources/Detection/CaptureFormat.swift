import FoundationEssentials
import Text

/// A number of channels that a USB sound card captures, and the sample rates at which it does.
public struct CaptureFormat: Hashable, Sendable {
  /// Sample rates in hertz.
  public enum Rates: Hashable, Sendable {
    case list([Int])
    case range(ClosedRange<Int>)

    public func contains(_ rate: Int) -> Bool {
      switch self {
      case .list(let rates): rates.contains(rate)
      case .range(let range): range.contains(rate)
      }
    }
  }

  public let channels: Int
  public let rates: Rates

  public init(channels: Int, rates: Rates) {
    self.channels = channels
    self.rates = rates
  }

  /// The capture formats in the text of `/proc/asound/cardN/streamM`, without repetitions. Each altset of the interface is
  /// one format; lines that cannot be understood are ignored.
  package static func formats(inStream lines: [Substring]) -> [CaptureFormat] {
    var formats: [CaptureFormat] = []
    var isCapture = false
    var channels: Int?
    for line in lines {
      let field = line.trimmed()
      if field == "Capture:" || field == "Playback:" {
        isCapture = field == "Capture:"
        channels = nil
      } else if let match = field.wholeMatch(of: #/Channels: *([0-9]{1,3})/#) {
        channels = Int(match.output.1).flatMap { (1...256).contains($0) ? $0 : nil }
      } else if isCapture, let count = channels, let rates = Rates(field) {
        let format = CaptureFormat(channels: count, rates: rates)
        if formats.count < 64, !formats.contains(format) { formats.append(format) }
        channels = nil
      }
    }
    return formats
  }
}

extension CaptureFormat.Rates {
  /// Reads "Rates: 44100, 48000" or "Rates: 8000 - 48000 (continuous)"; nil for anything else.
  fileprivate init?(_ field: String) {
    func isRate(_ rate: Int) -> Bool { (1000...1_536_000).contains(rate) }
    if let match = field.wholeMatch(of: #/Rates: *([0-9]{1,7}) - ([0-9]{1,7}) \(continuous\)/#) {
      guard let low = Int(match.output.1), let high = Int(match.output.2), isRate(low), isRate(high),
        low <= high
      else { return nil }
      self = .range(low...high)
      return
    }
    guard field.hasPrefix("Rates:") else { return nil }
    let rates = field.dropFirst(6).split(separator: ",").compactMap {
      Int($0.trimmed())
    }.filter(isRate)
    guard !rates.isEmpty else { return nil }
    self = .list(rates)
  }
}

extension CaptureFormat: CustomStringConvertible {
  /// "8 channels at 44100, 48000 Hz".
  public var description: String {
    let rates =
      switch rates {
      case .list(let list): list.map(String.init).joined(separator: ", ")
      case .range(let range): "\(range.lowerBound) to \(range.upperBound)"
      }
    return "\(channels) channel\(channels == 1 ? "" : "s") at \(rates) Hz"
  }
}
