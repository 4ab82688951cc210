/// How a product shows itself to the computer that it is plugged into.
public struct Hardware: Hashable, Sendable {
  /// Vendor and product in hexadecimal: "2886:0018".
  public let usb: [String]
  /// ALSA card IDs, or parts of card names.
  public let cards: [String]
  /// The card's capture device, 6 in "hw:0,6".
  public let device: Int
  /// Number of capture channels while it delivers raw microphones.
  public let channels: Int
  /// Sample rates in hertz at which it does.
  public let rates: [Int]
  /// Firmware that does not deliver raw microphones: its number of capture channels, and what to do about it.
  public let processed: [Int: String]

  /// The card's ID in ALSA; nil if `cards` has only what must be a part of its name.
  public var cardID: String? { cards.first { $0.wholeMatch(of: #/[A-Za-z0-9_]{1,15}/#) != nil } }

  /// Whether it is more than a number of channels that any card may have.
  public var isRecognisable: Bool { !usb.isEmpty || !cards.isEmpty }

  public init(
    usb: [String] = [], cards: [String] = [], device: Int = 0, channels: Int, rates: [Int],
    processed: [Int: String] = [:]
  ) {
    self.usb = usb
    self.cards = cards
    self.device = device
    self.channels = channels
    self.rates = rates
    self.processed = processed
  }
}
