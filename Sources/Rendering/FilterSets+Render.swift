import Acoustics
import Adaptation
import Realtime
import Settings

extension FilterSets {
  /// Other filters from a frame on, as in a take whose microphones failed and returned, or whose feed follows a pose.
  public struct Substitution: Sendable {
    public let frame: Int
    /// Of the device's own cases; nil for the filters of all microphones.
    public let filters: FilterSets?
    /// The microphones that they do without.
    public let missing: Set<String>
    /// What is played in place of the selection; nil for itself.
    public let turned: Selection?

    public init(
      frame: Int, filters: FilterSets?, without missing: Set<String> = [], turned: Selection? = nil
    ) {
      (self.frame, self.filters, self.missing, self.turned) = (frame, filters, missing, turned)
    }
  }

  /// Runs the engine over signals in memory, without a server. The output is what the process callback would play,
  /// delayed by the filters' modelling delay.
  /// - Parameters:
  ///   - microphones: shape `[microphone][frame]`, in the order of the device's microphones.
  ///   - gain, highPass: of the outputs.
  ///   - adaptation: how far stereo follows the sound, 0…1, with `model`.
  ///   - changes: other selections from later frames on, and
  ///   - substitutions: other filters, as `Feed` has them.
  ///   - period: number of frames that the engine processes at a time.
  /// - Returns: as many frames as the input has; of B-format the first two channels.
  /// - Throws: the errors of `filters(for:of:)`.
  public func render(
    _ microphones: [[Float]], selection: Selection, of device: Device, gain: Decibels = Decibels(0),
    highPass: HighPass = .off, adaptation: Double = 0, model: AdaptiveModel? = nil,
    changes: [(frame: Int, selection: Selection)] = [], substitutions: [Substitution] = [],
    period: Int = 1024,
    instructionSet: InstructionSet = .best
  ) throws -> (left: [Float], right: [Float]) {
    var output: (left: [Float], right: [Float]) = ([], [])
    var parts = [microphones]
    func play(_ selection: Selection) -> FeedSetting {
      FeedSetting(selection, gain: gain, highPass: highPass, adaptation: adaptation)
    }
    var feed = Feed(play(selection))
    (feed.changes, feed.substitutions) = (changes.map { ($0.frame, play($0.selection)) }, substitutions)
    try render(
      [feed], of: device, model: model, period: period, instructionSet: instructionSet,
      next: { parts.popLast() },
      write: { outputs in
        output.left += outputs[0][0]
        output.right += outputs[0][min(1, outputs[0].count - 1)]
      })
    return output
  }

  /// A feed to render: what it plays at first, and what changes.
  public struct Feed: Sendable {
    public var play: FeedSetting
    /// In the order of their frames, with a crossfade each.
    public var changes: [(frame: Int, play: FeedSetting)] = []
    /// In the order of their frames. A crossfade begins with each; one from frame 0 is in force from the start.
    public var substitutions: [Substitution] = []
    /// Memory of its high-pass at a frame, where a period begins; nil for silence at the start.
    public var highPass: (frame: Int, memory: [SIMD2<Double>])?

    public init(_ play: FeedSetting) { self.play = play }

    /// 1 for mono alone, 2 if it ever plays stereo, and those of B-format.
    public var channels: Int {
      ([play] + changes.map(\.play)).map(\.selection.polarPattern.outputs).max() ?? 1
    }
  }

  /// What an engine remembered of the microphones before a frame, where a period begins: its copies of their frames, muted
  /// and faded already, which replace those that are given.
  public struct InputStart: Sendable {
    let frame: Int
    let memory: EngineMemory

    private var copies: Int { min(frame, memory.microphones.first?.count ?? 0) }
    var firstCopy: Int { frame - copies }

    /// - Parameter part: frames of all microphones, the first of which is `start`.
    func replacing(in part: [[Float]], from start: Int) -> [[Float]] {
      let range = max(start, firstCopy)..<max(start, firstCopy, min(frame, start + part[0].count))
      guard !range.isEmpty else { return part }
      return zip(part, memory.microphones).map { (given: [Float], copy: [Float]) -> [Float] in
        let shift = copy.count - frame
        var filled = given
        filled.replaceSubrange(
          (range.lowerBound - start)..<(range.upperBound - start),
          with: copy[(range.lowerBound + shift)..<(range.upperBound + shift)])
        return filled
      }
    }
  }

  /// The same for several feeds, which one engine plays, and sound of any length: no more of it is in memory than a part.
  /// - Parameters:
  ///   - feeds: the first is `main`. Changes may give only `main` another number of channels.
  ///   - framesBefore: how many of the frames only precede what is rendered. They are processed, and their outputs are
  ///     not written.
  ///   - inputs: what an engine remembered before a frame, counted from the first that is given.
  ///   - next: returns the next part, of any number of frames; nil at the end.
  ///   - onDemand: the filters of looks and B-format.
  ///   - model: of `device`, for filters that follow the sound; nil if none do.
  ///   - places: where talkers are whom a part may name, in the device frame.
  ///   - clock: time of the first frame on the engine's clock.
  ///   - write: called with the outputs, in order, as many frames in all as the input has after those before. Shape:
  ///     `[feed][channel][frame]`.
  /// - Throws: also what `next` and `write` throw.
  public func render(
    _ feeds: [Feed], of device: Device, onDemand: FilterChoice = FilterChoice(), model: AdaptiveModel? = nil,
    places: [String: Direction] = [:], framesBefore: Int = 0, clock: Int = 0, inputs: InputStart? = nil,
    period: Int = 1024,
    instructionSet: InstructionSet = .best, next: () throws -> [[Float]]?,
    write: (_ outputs: [[[Float]]]) throws -> Void
  ) throws {
    let engine = makeEngine(instructionSet: instructionSet, adapts: model != nil)
    let adaptive = AdaptiveFilters(engine)
    let forming = engine.formingFrames(period: period)
    var states = feeds.map { feed in
      var choice = onDemand
      if let first = feed.substitutions.last(where: { $0.frame <= 0 }) {
        choice.use(first.filters, without: first.missing)
        if let turned = first.turned { choice.play(turned, for: feed.play.selection, of: device, self) }
      }
      return (play: feed.play, choice: choice, lineage: 1)
    }
    var coming = Event.all(of: feeds, inputs, forming: forming)[...]
    /// Whether the feed turns again soon, so that a running engine would still lack tables.
    func isTurning(_ n: Int, at frame: Int) -> Bool {
      let soon = frame + Int(ReusableTarget.rest * engine.sampleRate)
      return coming.prefix { $0.frame < soon }.contains { event in
        guard case .substitution = event.kind else { return false }
        return event.feed == n && event.frame > frame
      }
    }
    func filters(_ n: Int) throws -> FilterSet {
      try states[n].choice.filters(for: states[n].play.selection, of: device, self)
    }
    func base(_ n: Int) throws -> FilterSet { states[n].play.base(of: try filters(n)) }
    var numbers: [Int] = []
    var reusable: [Int: ReusableTarget] = [:]
    /// What feeds follow the sound with from a frame on, by their numbers in the engine.
    func targets(at frame: Int) throws -> [Int: AdaptiveFilters.Target] {
      var targets: [Int: AdaptiveFilters.Target] = [:]
      for (n, number) in numbers.enumerated() where states[n].play.followsSound {
        var played = states[n].play
        played.selection = states[n].choice.played(played.selection)
        let whole = try filters(n)
        let (last, lineage) = (reusable[number], states[n].lineage)
        var target = last?.target(
          for: played, whole: whole, places: places, findsDirections: model?.findsDirections ?? false)
        if target == nil, let model, isTurning(n, at: frame) {
          target = last?.target(
            turnedTo: played, whole: whole, places: places, lineage: lineage, model,
            delayFrames: bank.delayFrames)
        }
        target =
          try target ?? model?.target(played, whole: whole, delayFrames: bank.delayFrames, places: places)
        target?.lineage = lineage
        targets[number] = target
        reusable[number] = target.map { ReusableTarget($0, for: played, whole: whole) }
      }
      return targets
    }
    var firstOutputs: [Int] = []
    var end = 0
    for (n, feed) in feeds.enumerated() {
      let (amplitude, highPass) = (feed.play.amplitude, feed.play.highPass.frequency?.value)
      // The engine's own feed has two outputs at most.
      if n == 0, feed.channels <= 2 {
        engine.start(with: try base(n), gain: amplitude, highPass: highPass, lineage: states[n].lineage)
        numbers.append(0)
        firstOutputs.append(0)
        continue
      }
      guard
        let number = engine.startFeed(
          with: try base(n), firstOutput: end, gain: amplitude, highPass: highPass,
          lineage: states[n].lineage)
      else { throw Unsupported("an engine has at most \(Engine.mostFeeds + 1) feeds") }
      numbers.append(number)
      firstOutputs.append(end)
      end += feed.channels
    }
    adaptive?.start(try targets(at: 0))
    func post(_ event: Event) throws {
      let n = event.feed
      let (play, missing) = (states[n].play, states[n].choice.missing)
      switch event.kind {
      case .change(let play): states[n].play = play
      case .substitution(let new):
        states[n].choice.use(new.filters, without: new.missing)
        if let turned = new.turned {
          states[n].choice.play(turned, for: states[n].play.selection, of: device, self)
        }
      case .highPass(let memory): return engine.setHighPasses(feed: numbers[n], memory)
      case .copies: return engine.takeInputsAsTheyAre()
      case .inputs(let memory): return engine.setInputs(memory)
      }
      if !states[n].play.continues(play) || states[n].choice.missing != missing {
        states[n].lineage += 1
      }
      let (amplitude, highPass) = (states[n].play.amplitude, states[n].play.highPass.frequency?.value)
      let (feed, lineage) = (numbers[n], states[n].lineage)
      if case .change = event.kind {
        _ = try engine.change(
          feed: feed, to: base(n), gain: amplitude, highPass: highPass, lineage: lineage)
      } else {
        _ = try engine.substitute(
          feed: feed, base(n), gain: amplitude, highPass: highPass, lineage: lineage)
      }
      adaptive?.follow(try targets(at: event.frame))
    }
    var run = OfflineRun(
      engine, microphones: [[Float]](repeating: [], count: engine.microphones), firstFrame: clock,
      feedOutputs: end)
    if let adaptive { run.afterPeriod = adaptive.work }
    var given = 0
    var ahead = framesBefore
    func writeOutput() throws {
      let skipped = min(ahead, run.left.count)
      ahead -= skipped
      try write(
        feeds.indices.map { n in
          let channels =
            numbers[n] == 0
            ? [run.left, run.right] : Array(run.feeds[firstOutputs[n]..<firstOutputs[n] + feeds[n].channels])
          return channels.prefix(feeds[n].channels).map { Array($0.dropFirst(skipped)) }
        })
      run.discardOutput()
    }
    while let part = try next() {
      run.append(inputs?.replacing(in: part, from: given) ?? part)
      given += part[0].count
      while let event = coming.first, event.frame < given {
        run.run(to: event.frame, period: period)
        _ = engine.drainReports()
        try post(event)
        coming.removeFirst()
      }
      run.run(wholePeriodsTo: given, period: period)
      _ = engine.drainReports()
      try writeOutput()
    }
    run.run(total: given, period: period)
    try writeOutput()
  }

  /// What happens before a frame of a rendering.
  private struct Event {
    enum Kind {
      case change(FeedSetting)
      case substitution(Substitution)
      case highPass([SIMD2<Double>])
      case copies
      case inputs([InputMemory])
    }

    let frame: Int
    let feed: Int
    let kind: Kind

    /// - Parameter forming: how long before its fade a substitution is requested.
    static func all(of feeds: [Feed], _ inputs: InputStart?, forming: Int) -> [Event] {
      let start =
        inputs.map {
          [
            Event(frame: $0.firstCopy, feed: 0, kind: .copies),
            Event(frame: $0.frame, feed: 0, kind: .inputs($0.memory.inputs)),
          ]
        } ?? []
      let all =
        start
        + feeds.enumerated().flatMap { (n, feed) -> [Event] in
          (feed.highPass.map { [Event(frame: $0.frame, feed: n, kind: .highPass($0.memory))] } ?? [])
            + feed.changes.map { Event(frame: $0.frame, feed: n, kind: .change($0.play)) }
            + feed.substitutions.filter { $0.frame > 0 }.map {
              Event(frame: max(0, $0.frame - forming), feed: n, kind: .substitution($0))
            }
        }
      return all.enumerated().sorted { ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset) }.map(
        \.element)
    }
  }
}
