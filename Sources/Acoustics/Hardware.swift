/// How a product shows itself to the computer that it is plugged into.
public struct Hardware: Hashable, Sendable {
  /// Vendor and product in hexadecimal: "2886:0018".
  public let usb: [String]
  /// ALSA card IDs, or parts of card names.
  public let cards: [String]
  /// Number of capture channels while it delivers raw microphones.
  public let channels: Int
  /// Sample rates in hertz at which it does.
  public let rates: [Int]
  /// Firmware that does not deliver raw microphones: its number of capture channels, and what to do about it.
  public let processed: [Int: String]

  public init(
    usb: [String] = [], cards: [String] = [], channels: Int, rates: [Int], processed: [Int: String] = [:]
  ) {
    self.usb = usb
    self.cards = cards
    self.channels = channels
    self.rates = rates
    self.processed = processed
  }
}
