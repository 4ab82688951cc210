import Acoustics
import Settings

/// What a feed may be called.
public enum FeedNames {
  /// Why `feed` cannot be among `others` on a device, as a sentence; nil if it can.
  public static func obstacle(to feed: FeedSetting, among others: [FeedSetting], of device: Device) -> String?
  {
    let name = feed.name
    if !FeedSetting.isName(name) {
      return "\(name.quoted) cannot name a feed; use 1 to 32 letters and digits, beginning with a letter, "
        + "but none of: main, all, microphones"
    }
    if let other = others.first(where: { $0.name.lowercased() == name.lowercased() }) {
      return other.name == name
        ? "there is a feed \(name) already; change it with: pinna set --feed \(name)"
        : "\(name) differs from the feed \(other.name) only in case; choose another name"
    }
    if others.count >= FeedSetting.most {
      return
        "there are \(FeedSetting.most + 1) feeds with main, as many as there can be; remove one with: pinna feed remove"
    }
    let outputs = 2 + (others + [feed]).reduce(0) { $0 + $1.portNames.count }
    if outputs > FeedSetting.mostOutputs {
      return
        "with \(name) the feeds would have \(outputs) outputs, but there can be \(FeedSetting.mostOutputs) with main's; remove one with: pinna feed remove"
    }
    let taken = Set(device.microphones.map(\.name) + DescriptionName.ownPorts + others.flatMap(\.portNames))
    if let port = feed.portNames.first(where: taken.contains) {
      return "\(name) cannot name this feed, because there is a port \(port) already; choose another name"
    }
    return nil
  }
}
