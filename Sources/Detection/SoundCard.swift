import FoundationEssentials
import Text

/// A sound card of ALSA that can capture, as the kernel describes it.
public struct SoundCard: Hashable, Sendable {
  /// The number in "hw:1".
  public let index: Int
  /// The ID in "hw:CARD=SPK".
  public let id: String
  /// "USB-Audio".
  public let driver: String
  /// "micArray RAW SPK".
  public let name: String
  /// "miniDSP micArray RAW SPK at usb-0000:00:14.0-2, high speed"; empty if unknown.
  public let longName: String
  /// Vendor and product in hexadecimal, "2752:001d"; nil for a card that is not on USB.
  public let usb: String?
  /// The USB serial number; nil if there is none.
  public let serial: String?
  /// What it captures; empty if the kernel does not say, as for cards that are not on USB.
  public let formats: [CaptureFormat]
  /// What the firmware of a laptop says about its microphones; usually empty.
  public let digitalMicrophones: [DigitalMicrophone]
  /// The ALSA device of a laptop's digital microphones, 6 in "hw:0,6"; nil if the card has none.
  public let digitalDevice: Int?

  /// Whether it has a laptop's own digital microphones.
  public var isLaptop: Bool { digitalDevice != nil || !digitalMicrophones.isEmpty }

  /// The largest number of channels that it captures; nil if unknown.
  public var channels: Int? { formats.map(\.channels).max() }

  /// The sample rate to start a server at, in hertz: 48 kHz, or the nearest to it that the card has with most channels.
  public var startRate: Int {
    let rates = formats.filter { $0.channels == channels }.flatMap { format in
      switch format.rates {
      case .list(let list): list
      case .range(let range): [min(max(48000, range.lowerBound), range.upperBound)]
      }
    }
    return rates.min { abs($0 - 48000) < abs($1 - 48000) } ?? 48000
  }

  public init(
    index: Int, id: String, driver: String, name: String, longName: String = "", usb: String? = nil,
    serial: String? = nil, formats: [CaptureFormat] = [], digitalMicrophones: [DigitalMicrophone] = [],
    digitalDevice: Int? = nil
  ) {
    self.index = index
    self.id = id
    self.driver = driver
    self.name = name
    self.longName = longName
    self.usb = usb
    self.serial = serial
    self.formats = formats
    self.digitalMicrophones = digitalMicrophones
    self.digitalDevice = digitalDevice
  }

  /// All cards that can capture, by index. Malformed entries and unreadable files are skipped.
  public static func list(in folders: SystemFolders) -> [SoundCard] {
    let lines = SystemFile.lines(folders.asound + "/cards")
    var cards: [SoundCard] = []
    for (n, line) in lines.enumerated() where cards.count < 64 {
      // " 1 [SPK            ]: USB-Audio - micArray RAW SPK", and the long name in the next line
      guard let match = line.wholeMatch(of: #/ *([0-9]{1,3}) \[([^\]]{1,64})\]: (.*?) - (.*)/#),
        let index = Int(match.output.1), !cards.contains(where: { $0.index == index })
      else { continue }
      let next = n + 1 < lines.count ? lines[n + 1] : ""
      let card = SoundCard(
        index: index, id: field(match.output.2), driver: field(match.output.3), name: field(match.output.4),
        longName: next.contains("]: ") ? "" : field(next), in: folders)
      if let card { cards.append(card) }
    }
    return cards
  }

  /// Nil if the card has no capture device.
  private init?(
    index: Int, id: String, driver: String, name: String, longName: String, in folders: SystemFolders
  ) {
    let folder = "\(folders.asound)/card\(index)"
    let names = SystemFile.names(folder)
    let captures = names.compactMap { $0.wholeMatch(of: #/pcm([0-9]{1,3})c/#).flatMap { Int($0.output.1) } }
    guard !captures.isEmpty else { return nil }
    let streams = names.filter { $0.wholeMatch(of: #/stream[0-9]{1,3}/#) != nil }.prefix(16)
    let usb = SystemFile.text(folder + "/usbid").map(Self.field)
    // The card's device is an interface of the USB device, which has the serial number.
    let serial = SystemFile.text("\(folders.sysfs)/class/sound/card\(index)/device/../serial").map(Self.field)
    let description = SystemFile.text("\(folders.alsaState)/card\(index).conf.d/dmics-nhlt.json")
    self.init(
      index: index, id: id, driver: driver, name: name, longName: longName,
      usb: usb.flatMap {
        $0.wholeMatch(of: #/[0-9a-fA-F]{4}:[0-9a-fA-F]{4}/#) == nil ? nil : $0.lowercased()
      },
      serial: serial.flatMap { $0.isEmpty ? nil : $0 },
      formats: streams.flatMap { CaptureFormat.formats(inStream: SystemFile.lines("\(folder)/\($0)")) },
      digitalMicrophones: description.map(DigitalMicrophone.list) ?? [],
      // "id: DMIC (*)"; a second one has them at 16 kHz.
      digitalDevice: captures.sorted().first { device in
        SystemFile.lines("\(folder)/pcm\(device)c/info").contains { $0.hasPrefix("id: DMIC") }
      })
  }

  /// Without surrounding blanks, at most 120 characters.
  private static func field(_ text: some StringProtocol) -> String {
    String(text.trimmed(lines: true).prefix(120))
  }
}
