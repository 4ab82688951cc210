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
    guard let objects = try? JSONDecoder().decode([Object].self, from: data) else { return nil }
    let infos = objects.compactMap { object in object.info.map { (object.id, $0) } }
    cards = infos.compactMap { Card(id: $0, info: $1) }
    nodes = infos.compactMap { id, info in
      guard let kind = info.text("media.class"), let name = info.text("node.name") else { return nil }
      return "\(id) \(kind) \(name)"
    }
  }
}

extension PipeWireDump.Card {
  fileprivate init?(id: Int, info: Info) {
    guard info.text("media.class") == "Audio/Device" else { return nil }
    self.id = id
    description =
      ["device.description", "device.nick", "device.name"].compactMap(info.text).first ?? "device \(id)"
    index = (info.properties["api.alsa.card"] ?? info.properties["alsa.card"])?.number
    active = info.active.first
    profiles = info.profiles
  }
}

// Objects of other kinds have other fields, and fields of other types: what is not as expected is left out.

private struct Name: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

private struct Object: Decodable {
  let id: Int
  let info: Info?

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Name.self)
    id = (try? fields.decode(Int.self, forKey: Name("id"))) ?? 0
    info = try? fields.decode(Info.self, forKey: Name("info"))
  }
}

private struct Info: Decodable {
  let properties: [String: Property]
  let active: [PipeWireDump.Profile]
  let profiles: [PipeWireDump.Profile]

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Name.self)
    properties = (try? fields.decode([String: Property].self, forKey: Name("props"))) ?? [:]
    let parameters = try? fields.nestedContainer(keyedBy: Name.self, forKey: Name("params"))
    func profiles(_ name: String) -> [PipeWireDump.Profile] {
      ((try? parameters?.decode([Profile].self, forKey: Name(name))) ?? []).compactMap(\.value)
    }
    active = profiles("Profile")
    self.profiles = profiles("EnumProfile")
  }

  /// The property's text; nil if there is none, or if it is of another type.
  func text(_ name: String) -> String? { properties[name]?.text }
}

private struct Property: Decodable {
  var text: String?
  /// Written as a number or as text.
  var number: Int?

  init(from decoder: any Decoder) throws {
    guard let value = try? decoder.singleValueContainer() else { return }
    text = try? value.decode(String.self)
    number = text.map(Int.init) ?? (try? value.decode(Int.self))
  }
}

private struct Profile: Decodable {
  /// Nil without a name.
  let value: PipeWireDump.Profile?

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Name.self)
    let name = try? fields.decode(String.self, forKey: Name("name"))
    let index = try? fields.decode(Int.self, forKey: Name("index"))
    let description = try? fields.decode(String.self, forKey: Name("description"))
    value = name.map { PipeWireDump.Profile(index: index ?? 0, name: $0, description: description ?? $0) }
  }
}
