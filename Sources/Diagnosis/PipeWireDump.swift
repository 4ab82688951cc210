import Foundation

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
    guard let objects = try? JSONSerialization.jsonObject(with: data) as? [[String: Any]] else { return nil }
    let infos = objects.compactMap { object in
      (object["info"] as? [String: Any]).map { (object["id"] as? Int ?? 0, $0) }
    }
    cards = infos.compactMap { Card(id: $0, info: $1) }
    nodes = infos.compactMap { id, info in
      let properties = info["props"] as? [String: Any] ?? [:]
      guard let kind = properties["media.class"] as? String, let name = properties["node.name"] as? String
      else {
        return nil
      }
      return "\(id) \(kind) \(name)"
    }
  }
}

extension PipeWireDump.Card {
  fileprivate init?(id: Int, info: [String: Any]) {
    let properties = info["props"] as? [String: Any] ?? [:]
    guard properties["media.class"] as? String == "Audio/Device" else { return nil }
    let parameters = info["params"] as? [String: Any] ?? [:]
    func profiles(_ name: String) -> [PipeWireDump.Profile] {
      (parameters[name] as? [[String: Any]] ?? []).compactMap { profile in
        guard let name = profile["name"] as? String else { return nil }
        return PipeWireDump.Profile(
          index: profile["index"] as? Int ?? 0, name: name,
          description: profile["description"] as? String ?? name)
      }
    }
    self.id = id
    description =
      ["device.description", "device.nick", "device.name"].compactMap { properties[$0] as? String }.first
      ?? "device \(id)"
    let card = properties["api.alsa.card"] ?? properties["alsa.card"]
    index = (card as? Int) ?? (card as? String).flatMap(Int.init)
    active = profiles("Profile").first
    self.profiles = profiles("EnumProfile")
  }
}
