import Acoustics
import Text

/// Everything that a user can choose: preset with its connections, input, feeds, output and the microphone to listen to.
public struct Setting: Hashable, Sendable {
  /// A connection in the JACK graph.
  public struct Connection: Hashable, Sendable {
    /// A microphone, one of Pinna's other ports, or an output of a feed.
    public let port: String
    /// Full name of another client's port: "system:capture_1".
    public let peer: String
    public init(port: String, peer: String) { (self.port, self.peer) = (port, peer) }
  }

  public var preset: String
  /// The preset's device.
  public let home: Device
  /// The input in the route: `home` or another input.
  public private(set) var device: Device
  /// The last selections of `main` on inputs that are not in the route, by UID.
  private var remembered: [String: Selection] = [:]
  /// `main`, then the others.
  public private(set) var feeds: [FeedSetting]
  public var output = OutputChoice.standard
  /// The microphone that is listened to alone; nil for the selection. Never during a take.
  public private(set) var listening: String?
  /// Who sits where, by which talkers are named.
  public var seats: [Seat] = []
  /// The connections of the preset.
  public let connections: [Connection]

  /// - Parameter feeds: `main`, then the others.
  public init(preset: String, device: Device, feeds: [FeedSetting], connections: [Connection] = []) {
    precondition(feeds.first?.isMain == true)
    (self.preset, self.feeds, self.connections) = (preset, feeds, connections)
    (home, self.device) = (device, device)
  }

  public var main: FeedSetting {
    get { feeds[0] }
    set { feeds[0] = newValue }
  }

  /// The feeds besides `main`.
  public var others: [FeedSetting] { Array(feeds.dropFirst()) }

  /// The device edges that the left and right channels point to; nil for mono patterns.
  public var layout: StereoLayout? { main.selection.layout(on: device) }

  /// Copies the remembered selections of `other`, and the selection on its current input. The selection on this
  /// setting's own input does not change.
  public mutating func remember(_ other: Setting) {
    remembered.merge(other.remembered) { $1 }
    remembered[other.device.uid] = other.main.selection
    remembered[device.uid] = nil
  }

  /// Replaces the feeds besides `main`.
  public mutating func want(_ others: [FeedSetting]) { feeds = [main] + others.map { $0.moved(to: device) } }

  /// The same with these feeds besides `main`.
  public func with(_ others: [FeedSetting]) -> Setting {
    var setting = self
    setting.want(others)
    return setting
  }

  /// - Throws: `UnknownWord` or a `Failure`, if there is no such feed.
  public func feed(named name: String) throws -> FeedSetting {
    if let feed = feeds.first(where: { $0.name.lowercased() == name.lowercased() }) { return feed }
    guard feeds.count > 1 else {
      throw Failure(
        .usage, "there is no feed \(name.quoted) besides main; add one with: pinna feed add NAME")
    }
    throw UnknownWord(kind: "feed", word: name, choices: others.map(\.name))
  }

  /// Puts another input in the route. Restores the last selection on it; otherwise keeps as much of the current
  /// selection as the input offers.
  public mutating func choose(_ input: Device) {
    guard input != device else { return }
    remembered[device.uid] = main.selection
    device = input
    listening = nil
    want(others)
    // The device file may have been edited and no longer offer it.
    if let last = remembered.removeValue(forKey: input.uid), (try? input.check(last)) != nil {
      main.selection = last
      return
    }
    let source = (try? input.dataSource(named: main.selection.dataSource)) ?? input.dataSources[0]
    main.selection.dataSource = source.name
    main.selection.look = nil
    if !source.polarPatterns.contains(main.selection.polarPattern) {
      main.selection.polarPattern = source.defaultPolarPattern
    }
  }

  /// Applies changes of `main` and of what belongs to all feeds, but for a preset and an input, which others look up and
  /// choose first (`choose`).
  /// - Throws: on the first name that the device does not have; earlier changes are applied then.
  public mutating func apply(_ changes: [Change]) throws {
    try main.apply(changes, of: device)
    if let choice = changes[.output].flatMap({ OutputChoice(rawValue: $0.word) }) { output = choice }
    for case .set(.seat, let value) in changes { try seat(value.word) }
    guard let value = changes[.listen] else { return }
    listening = value == .off ? nil : value.word
    let names = device.microphones.map(\.name)
    if let listening, !names.contains(listening) {
      throw UnknownWord(kind: "microphone", word: listening, choices: names + ["off"])
    }
  }

  /// Whether `changes` would change nothing. Of a preset and of an input it is not known.
  public func contains(_ changes: [Change]) -> Bool {
    var changed = self
    return !changes.contains(where: \.choosesDevice) && (try? changed.apply(changes)) != nil
      && changed == self
  }

  /// Seats some people more, each in place of who had the name or the place; "off" seats nobody.
  private mutating func seat(_ words: String) throws(Failure) {
    let new = words == "off" ? [] : try Seat.list(words.split(separator: ";").map(String.init))
    let kept = seats.filter { old in
      !new.contains { $0.name == old.name || $0.look.angle(to: old.look) < Seat.tolerance / 2 }
    }
    seats = words == "off" ? [] : try Seat.list((kept + new).map(\.word))
  }

  /// Where each seat is, in the device frame, by name.
  public var places: [String: Direction] {
    guard let frame = try? device.axes(of: main.selection) else { return [:] }
    return Dictionary(seats.map { ($0.name, $0.look.direction(in: frame)) }) { first, _ in first }
  }

  /// What the feeds play: while one microphone is listened to, `main` plays that as it is.
  public var played: [FeedSetting] {
    guard listening != nil else { return feeds }
    var alone = main.linear
    alone.selection.follows = []
    return [alone] + others
  }

  /// The setting without listening to one microphone.
  public var withoutListening: Setting {
    var setting = self
    setting.listening = nil
    return setting
  }

  /// A value of a feed, or of all.
  /// - Throws: if there is no such feed, or the value belongs to all.
  public func value(of key: SettingKey, feed name: String = FeedSetting.main) throws -> SettingValue {
    let feed = try feed(named: name)
    if let value = feed.value(of: key) { return value }
    guard feed.isMain else { throw FeedWords.notOfFeeds(key.rawValue) }
    return value(ofAll: key)
  }

  private func value(ofAll key: SettingKey) -> SettingValue {
    switch key {
    case .output: .word(output.rawValue)
    case .listen: listening.map { .word($0) } ?? .off
    case .seat: seats.isEmpty ? .off : .word(seats.map(\.word).joined(separator: ";"))
    default: .word(device.uid)
    }
  }
}
