import Acoustics
import Settings
import Text

extension Sidecar {
  /// From a frame on, what a feed played that followed a pose. It faded over 20 ms.
  public struct Turn: Sendable, Hashable {
    /// Frame of the take, pre-roll included.
    public let frame: Int
    /// Name of the feed.
    public let feed: String
    /// The orientation whose filters it played with the pose.
    public let orientation: InputOrientation
    /// Of a mono pattern; nil for the data source's forward.
    public let look: Look?
    /// Of stereo and B-format.
    public let pose: Pose

    /// - Parameters:
    ///   - selection: what was played.
    ///   - feed: its name.
    public init(_ selection: Selection, frame: Int, feed: String) {
      (self.frame, self.feed) = (frame, feed)
      (orientation, look, pose) = (selection.inputOrientation, selection.effectiveLook, selection.pose)
    }

    private init(
      frame: Int, feed: String, orientation: InputOrientation, look: Look?, roll: Double, yaw: Double
    ) {
      (self.frame, self.feed, self.orientation, self.look) = (frame, feed, orientation, look)
      pose = Pose(roll: roll, yaw: yaw)
    }

    /// What was played in place of a selection that follows.
    public func played(_ selection: Selection) -> Selection {
      Selection(
        dataSource: selection.dataSource, polarPattern: selection.polarPattern, inputOrientation: orientation,
        look: look, pose: pose)
    }

    /// "4096 roll 5 yaw -2", "8192 look 60,-10", "9216 landscapeLeft". What is not said is none, and the orientation that
    /// of the feed.
    /// - Parameter usual: the orientation of the feed.
    func text(usual: String) -> String {
      var words = ["\(frame)"]
      if orientation.rawValue != usual { words.append(orientation.rawValue) }
      if let look { words += ["look", look.word] }
      if pose.roll != 0 { words += ["roll", pose.roll.plain] }
      if pose.yaw != 0 { words += ["yaw", pose.yaw.plain] }
      return words.joined(separator: " ")
    }

    /// Nil for what `text` does not write.
    init?(_ text: Substring, of feed: String, usual: InputOrientation) {
      var words = text.split(separator: " ").map(String.init)[...]
      guard let frame = words.popFirst().flatMap({ Int($0) }), frame >= 0 else { return nil }
      var (orientation, look, angles) = (usual, Look?.none, ["roll": 0.0, "yaw": 0.0])
      while let word = words.popFirst() {
        if let other = InputOrientation(rawValue: word) {
          orientation = other
          continue
        }
        guard let value = words.popFirst() else { return nil }
        let numbers = value.split(separator: ",").compactMap { String($0).decimal }
        if word == "look", (1...2).contains(numbers.count) {
          look = Look(azimuth: numbers[0], elevation: numbers.count == 2 ? numbers[1] : 0)
          if look == nil { return nil }
        } else if angles[word] != nil, numbers.count == 1, abs(numbers[0]) <= 360 {
          angles[word] = numbers[0]
        } else {
          return nil
        }
      }
      self.init(
        frame: frame, feed: feed, orientation: orientation, look: look, roll: angles["roll"]!,
        yaw: angles["yaw"]!)
    }
  }

  /// Of all texts together, in bytes: over an hour of a head that always moves. The sidecar is written every second.
  static let turnLimit = 4 << 20
  private static let turnNote = "later poses are not listed, because there were too many"

  /// Lists what feeds play, each in order.
  package mutating func list(_ more: [Turn]) {
    guard !more.isEmpty else { return }
    var all = turns ?? [:]
    var size = all.values.reduce(0) { $0 + $1.utf8.count }
    for turn in more {
      guard size < Self.turnLimit else {
        if !notes.contains(Self.turnNote) { notes.append(Self.turnNote) }
        break
      }
      let text = turn.text(usual: orientation(of: turn.feed) ?? "")
      all[turn.feed, default: ""] += all[turn.feed] == nil ? text : "; " + text
      size += text.utf8.count + 2
    }
    turns = all
  }

  private func orientation(of feed: String) -> String? {
    allFeeds.first { $0.name == feed }?.values[.orientation]?.word
  }

  /// What a feed played that followed a pose, in order; empty if it did not follow.
  /// - Throws: if the sidecar lists what no take can have.
  public func turns(of feed: String) throws(TakeError) -> [Turn] {
    guard let text = turns?[feed] else { return [] }
    guard let usual = orientation(of: feed).flatMap(InputOrientation.init) else {
      throw TakeError("the sidecar lists poses of a feed that it does not describe")
    }
    var all: [Turn] = []
    for part in text.split(separator: ";") {
      guard let turn = Turn(part, of: feed, usual: usual), turn.frame >= all.last?.frame ?? 0 else {
        throw TakeError("the sidecar lists \(String(part).quoted) among its poses, which no take has")
      }
      // Feeds play on where the disk is full.
      if turn.frame > frames { break }
      all.append(turn)
    }
    return all
  }
}
