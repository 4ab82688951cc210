import FoundationEssentials

/// What `pw-dump` prints, as far as sound cards are concerned.
public struct PipeWireDump: Sendable {
  public struct Profile: Sendable, Equatable {
    public let index: Int
    /// "pro-audio", "output:analog-stereo+input:analog-stereo".
    public let name: String
    public let description: String
  }

  public struct Card: Sendable {
    public let id: Int
    public let description: String
    /// ALSA's number of the card; nil if it is not ALSA's.
    public let index: Int?
    public let active: Profile?
    public let profiles: [Profile]
  }

  public let cards: [Card]
  /// A line per node: its number, class, name.
  public let nodes: [String]

  /// Nil if `data` is not what `pw-dump` prints.
  public init?(_ data: Data) {
    guard let objects = try? JSONDecoder().decode([[String: JSON]].self, from: data) else { return nil }
    cards = objects.compactMap(Card.init)
    nodes = objects.compactMap { object in
      let properties = object["info"]?["props"]
      guard let kind = properties?["media.class"]?.text, let name = properties?["node.name"]?.text else {
        return nil
      }
      return "\(object["id"]?.number ?? 0) \(kind) \(name)"
    }
  }
}

extension PipeWireDump.Card {
  fileprivate init?(_ object: [String: JSON]) {
    guard let info = object["info"], let properties = info["props"],
      properties["media.class"]?.text == "Audio/Device"
    else { return nil }
    id = object["id"]?.number ?? 0
    description =
      ["device.description", "device.nick", "device.name"].compactMap { properties[$0]?.text }.first
      ?? "device \(id)"
    let number = properties["api.alsa.card"] ?? properties["alsa.card"]
    index = number?.number ?? number?.text.flatMap { Int($0) }
    active = info["params"]?["Profile"]?.list.compactMap(PipeWireDump.Profile.init).first
    profiles = info["params"]?["EnumProfile"]?.list.compactMap(PipeWireDump.Profile.init) ?? []
  }
}

extension PipeWireDump.Profile {
  /// Nil without a name.
  fileprivate init?(_ json: JSON) {
    guard let name = json["name"]?.text else { return nil }
    self.init(index: json["index"]?.number ?? 0, name: name, description: json["description"]?.text ?? name)
  }
}

/// Objects of other kinds have other fields, and fields of other types: what is not as expected is nil.
private enum JSON: Decodable {
  case object([String: JSON])
  case list([JSON])
  case text(String)
  case number(Int)
  case other

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let object = try? value.decode([String: JSON].self) {
      self = .object(object)
    } else if let list = try? value.decode([JSON].self) {
      self = .list(list)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else {
      self = (try? value.decode(Int.self)).map(JSON.number) ?? .other
    }
  }

  subscript(key: String) -> JSON? { if case .object(let fields) = self { fields[key] } else { nil } }
  /// Empty for anything but a list.
  var list: [JSON] { if case .list(let list) = self { list } else { [] } }
  var text: String? { if case .text(let text) = self { text } else { nil } }
  var number: Int? { if case .number(let number) = self { number } else { nil } }
}
