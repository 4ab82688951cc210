import Acoustics
import Text

extension Sidecar {
  /// From a frame on, where somebody speaks, or that nobody of this identity does.
  public struct Talker: Sendable, Hashable {
    /// Frame of the take, pre-roll included; within some 50 ms in takes before version 0.4.
    public let frame: Int
    public let identity: Int
    /// Whether it speaks from here on.
    public let isActive: Bool
    /// From the data source of `main`: where it is, or where it was on average since it began; nil if it ends here, and the
    /// take is older.
    public let look: Look?
    /// RMS at the microphones, in decibels of full scale.
    public let level: Double
    /// 0…1; nil in older takes.
    public let confidence: Double?

    /// - Parameter isActive: nil for whether there is a look.
    public init(
      frame: Int, identity: Int, isActive: Bool? = nil, look: Look? = nil, level: Double = 0,
      confidence: Double? = nil
    ) {
      (self.frame, self.identity, self.isActive) = (frame, identity, isActive ?? (look != nil))
      (self.look, self.level, self.confidence) = (look, level, confidence)
    }

    /// - Parameters:
    ///   - start: on the clock of `change`, the take's first frame.
    ///   - axes: those that angles are told in.
    public init(_ change: TalkerChange, from start: Int, in axes: HeadFrame, hasHeight: Bool) {
      let talker = change.talker
      self.init(
        frame: max(0, change.frame - start), identity: talker.identity, isActive: talker.isActive,
        look: talker.look(from: axes, hasHeight: hasHeight), level: talker.level,
        confidence: talker.confidence)
    }

    /// "4096 1 35,10 -32 90": frame, identity, azimuth and perhaps elevation, level, confidence in percent; "9216 1 off 35
    /// -30 85" for an end.
    var text: String {
      let end = isActive ? "\(frame) \(identity)" : "\(frame) \(identity) off"
      guard let look else { return end }
      let whole = Look(azimuth: look.azimuth.rounded(), elevation: look.elevation.rounded())!
      let percent = confidence.map { " \(Int(($0 * 100).rounded()))" } ?? ""
      return "\(end) \(whole.word) \((level.rounded() + 0).plain)\(percent)"
    }

    /// At another frame.
    func moved(to frame: Int) -> Talker {
      Talker(
        frame: frame, identity: identity, isActive: isActive, look: look, level: level, confidence: confidence
      )
    }

    /// As a sidecar has it.
    public var listed: Talker { Talker(text: text[...])! }

    /// - Returns: nil if that is no such text.
    init?(text: Substring) {
      var words = text.split(separator: " ")[...]
      guard let frame = words.popFirst().flatMap({ Int($0) }), (0...1 << 53).contains(frame),
        let identity = words.popFirst().flatMap({ Int($0) }), identity > 0
      else { return nil }
      let isEnd = words.first == "off"
      if isEnd { words.removeFirst() }
      guard let place = words.popFirst() else {
        guard isEnd else { return nil }
        self.init(frame: frame, identity: identity)
        return
      }
      let angles = place.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
      guard (1...2).contains(angles.count), let azimuth = angles[0], let elevation = angles.last!,
        let look = Look(azimuth: azimuth, elevation: angles.count == 2 ? elevation : 0),
        let level = words.popFirst().flatMap({ Double($0) }), (-300...300).contains(level)
      else { return nil }
      let percent = words.popFirst().flatMap { Int($0) }
      guard words.isEmpty, percent.map({ (0...100).contains($0) }) ?? true else { return nil }
      self.init(
        frame: frame, identity: identity, isActive: !isEnd, look: look, level: level,
        confidence: percent.map { Double($0) / 100 })
    }
  }

  private static let talkerNote = "later talkers are not listed, because there were too many"

  /// One whose frame is of the engine, counted from the take's first: the engine had none in gaps.
  public func moved(_ talker: Talker) -> Talker {
    let missed = gaps.filter { $0.cause != .disk }
    return talker.moved(to: missed.reduce(talker.frame) { $1.frame <= $0 ? $0 + $1.frames : $0 })
  }

  /// Lists who speaks where.
  /// - Parameter more: in frames of the engine.
  package mutating func list(_ more: [Talker]) {
    guard !more.isEmpty else { return }
    var all = talkers ?? ""
    for talker in more.map(moved) {
      guard all.utf8.count < Self.turnLimit else {
        if !notes.contains(Self.talkerNote) { notes.append(Self.talkerNote) }
        break
      }
      all += (all.isEmpty ? "" : "; ") + talker.text
    }
    talkers = all
  }

  /// Who spoke where; nil if nobody is listed.
  /// - Throws: if the sidecar lists what no take can have.
  public func talkerList() throws(TakeError) -> [Talker]? {
    guard let talkers else { return nil }
    var list: [Talker] = []
    for text in talkers.split(separator: "; ") {
      guard let talker = Talker(text: text) else {
        throw TakeError("the sidecar lists talkers that no take can have, so it is damaged")
      }
      list.append(talker)
    }
    return list
  }
}

extension TrackedTalker {
  /// Seen from a data source; without elevation where the array cannot tell it.
  package func look(from frame: HeadFrame, hasHeight: Bool) -> Look? {
    Direction(direction).map {
      let look = Look($0, from: frame)
      return hasHeight ? look : Look(azimuth: look.azimuth)!
    }
  }
}
