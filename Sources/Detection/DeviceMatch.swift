import Acoustics

/// A device of the library that a sound card may be.
public struct DeviceMatch: Hashable, Sendable {
  public enum Certainty: String, NamedWord, Codable {
    /// The USB vendor and product are the device's.
    case certain
    /// The card's ID or name is the device's.
    case likely
    /// Its channels would do for a microphone that comes through somebody else's interface.
    case candidate

    public static let kind = "certainty of a match"
  }

  public let device: Device
  public let certainty: Certainty
  /// Sample rates in hertz at which it delivers raw microphones, as far as the card has them.
  public let rates: [Int]
  /// Why the card does not deliver the device's raw microphones, and what to do about it; nil if it does.
  public let obstacle: String?

  /// The device has `hardware`.
  public var hardware: Hardware { device.hardware! }

  /// Whether the device can be used as it is plugged in.
  public var isUsable: Bool { certainty != .candidate && obstacle == nil }

  init(_ device: Device, _ certainty: Certainty, on card: SoundCard) {
    self.device = device
    self.certainty = certainty
    let hardware = device.hardware!
    let formats = card.formats.filter { $0.channels >= hardware.channels }
    let shared = hardware.rates.filter { rate in formats.contains { $0.rates.contains(rate) } }
    rates = shared.isEmpty ? hardware.rates : shared
    obstacle = certainty == .candidate ? nil : hardware.obstacle(on: card)
  }

  /// The devices that `card` may be: those that are certain, or else those that are likely, or else candidates.
  ///
  /// Candidates are devices without USB ID and card name, by the number of channels: as many as the card has, or else
  /// fewer. What is worn on the head is none of them: it does not come through an interface.
  static func matches(of card: SoundCard, among devices: [Device]) -> [DeviceMatch] {
    let known = devices.filter { $0.hardware != nil }
    let certain = known.filter { device in card.usb.map(device.hardware!.usb.contains) ?? false }
    guard certain.isEmpty else { return certain.map { DeviceMatch($0, .certain, on: card) } }
    let likely = known.filter { $0.hardware!.isNamed(card) }
    guard likely.isEmpty else { return likely.map { DeviceMatch($0, .likely, on: card) } }
    let unnamed = known.filter {
      $0.hardware!.usb.isEmpty && $0.hardware!.cards.isEmpty && $0.placement != .worn
    }
    for isEnough in [{ (a: Int, b: Int) in a == b }, { a, b in a > b }] {
      let candidates = unnamed.filter { device in
        card.formats.contains { format in
          isEnough(format.channels, device.hardware!.channels)
            && device.hardware!.rates.contains(where: format.rates.contains)
        }
      }
      if !candidates.isEmpty { return candidates.map { DeviceMatch($0, .candidate, on: card) } }
    }
    return []
  }

  /// Which capture channel is which microphone, from 1; nil for a channel without a microphone.
  public var microphonesByChannel: [String?] {
    let channels = device.captureChannels
    return (1...max(hardware.channels, channels.max() ?? 1)).map { channel in
      channels.firstIndex(of: channel).map { device.microphones[$0].name }
    }
  }

  /// The highest of `rates` up to 48 kHz, in hertz, or else the lowest.
  public var rate: Int { rates.filter { $0 <= 48000 }.max() ?? rates.min()! }
}

extension Hardware {
  fileprivate func isNamed(_ card: SoundCard) -> Bool {
    cards.contains {
      card.id.lowercased() == $0.lowercased() || card.name.lowercased().contains($0.lowercased())
    }
  }

  /// Nil if the card captures as many channels as the raw microphones need, or if its channels are unknown.
  fileprivate func obstacle(on card: SoundCard) -> String? {
    let counts = card.formats.map(\.channels)
    guard let most = counts.max(), !counts.contains(channels) else { return nil }
    let sends = "it sends \(most) channel\(most == 1 ? "" : "s")"
    if let count = counts.filter({ processed[$0] != nil }).max() {
      return "\(sends) of processed sound, not its microphones; \(processed[count]!)"
    }
    guard most < channels else { return nil }
    return
      "\(sends), but its microphones need \(channels); look for firmware or a setting that sends them all"
  }
}
