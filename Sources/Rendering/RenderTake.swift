import Acoustics
import Adaptation
import Realtime
import Recording
import Settings

/// What `pinna render` does with the microphones of a take: feeds that play what they played when it was recorded, or
/// something else. Missing microphones, poses and gaps are repeated, and so is what the engine remembered when the take
/// began. The microphones may also be of no take.
package struct RenderTake {
  /// A feed to render.
  package struct Feed {
    package var setting: Setting
    /// The feed of the take whose missing microphones and poses are repeated.
    package let recorded: String
    /// Whether nothing differs from what was recorded.
    package let isAsRecorded: Bool
    /// When it is heard, in seconds of the take; nil for always.
    package let times: [(begin: Double, end: Double)]?

    package init(
      _ setting: Setting, recorded: String = FeedSetting.main, isAsRecorded: Bool = false,
      times: [(begin: Double, end: Double)]? = nil
    ) {
      (self.setting, self.recorded) = (setting, recorded)
      (self.isAsRecorded, self.times) = (isAsRecorded, times)
    }
  }

  private let take: TakeMicrophones?
  private let device: Device
  private let feeds: [FilterSets.Feed]
  private let gates: [SoundGate?]
  private let sets: FilterSets
  private let onDemand: FilterChoice
  private let model: AdaptiveModel?
  private let start: TakeMicrophones.Start
  private let period: Int
  /// Whether filters without some microphones are repeated.
  package let hasFallbacks: Bool

  /// Designs all filters.
  /// - Parameters:
  ///   - feeds: the first is played as main, of one device all.
  ///   - take: nil for microphones of no take.
  ///   - automation: what is set from later frames of the file on.
  ///   - progress: makes what shows how far a design is, by the device's name.
  package init(
    _ feeds: [Feed], of take: TakeMicrophones?, automation: [(frame: Int, setting: Setting)] = [],
    sampleRate: Int, period: Int, progress: (_ device: String) -> @Sendable (Double) -> Void
  ) throws {
    let device = feeds[0].setting.device
    func designed(_ own: Device, without missing: Set<String> = []) throws -> FilterSets {
      let progress = progress(device.name)
      return try missing.isEmpty
        ? FilterSets(device: own, sampleRate: sampleRate, progress: progress)
        : FilterSets(fallbackFor: own, without: missing, sampleRate: sampleRate, progress: progress)
    }
    // What is designed on demand, alone, needs none of the device's own filters.
    let first = feeds[0].setting.main.selection
    let isAlone =
      feeds.count == 1 && automation.isEmpty && take?.sidecar.turns == nil && first.pose == .none
    let alone = isAlone ? try device.ownDevice(of: first) : nil
    let sets = try designed(alone ?? device)
    var onDemand = FilterChoice()
    // All of them are played, however many a take followed.
    var demanded: [FilterChoice.Key] = []
    func demand(_ selection: Selection, without missing: Set<String> = []) throws {
      for key in FilterChoice.keys(for: selection, of: device, sampleRate: sampleRate, without: missing) {
        guard !onDemand.contains(key), let own = try device.ownDevice(of: key.selection) else { continue }
        let isThere = missing.isEmpty && own == alone
        demanded.append(key)
        onDemand.keep(
          isThere ? sets : try designed(own, without: missing), for: key, notForgetting: demanded)
      }
    }
    // The memory of the filters, of a crossfade, and of the lowest high-pass.
    let start = take?.start(sets.bank.tapCount + sampleRate, period: period) ?? TakeMicrophones.Start()
    var fallbacks: [Set<String>: FilterSets] = [:]
    self.feeds = try feeds.map { feed in
      var played = FilterSets.Feed(feed.setting.main)
      played.changes = automation.map { frame, setting in
        (start.frames + (take?.engineFrames(before: frame) ?? frame), setting.main)
      }
      played.substitutions =
        try take?.substitutions(of: feed.recorded, feed.setting.main.selection, start).map {
          frame, missing, turned in
          if !missing.isEmpty, fallbacks[missing] == nil {
            fallbacks[missing] = try designed(device, without: missing)
          }
          return FilterSets.Substitution(
            frame: frame, filters: fallbacks[missing], without: missing, turned: turned)
        } ?? []
      for selection in [played.play.selection] + played.changes.map(\.play.selection) {
        for missing in [[]] + played.substitutions.map(\.missing) {
          try demand(selection, without: missing)
        }
        for case (let turned?, let missing) in played.substitutions.map({ ($0.turned, $0.missing) }) {
          try demand(turned, without: missing)
        }
      }
      if feed.isAsRecorded { played.highPass = take?.highPass(of: feed.recorded, start) }
      return played
    }
    let plays = self.feeds.flatMap { [$0.play] + $0.changes.map(\.play) }
    model =
      plays.contains(where: \.followsSound)
      ? try AdaptiveModel(
        device, sampleRate: sampleRate, findsDirections: plays.contains(where: \.followsDirections)) : nil
    (self.take, self.device, self.sets, self.onDemand) = (take, device, sets, onDemand)
    (self.start, self.period, hasFallbacks) = (start, period, !fallbacks.isEmpty)
    gates = feeds.map { feed in
      feed.times.map { SoundGate($0, from: take?.files.frame ?? 0, sampleRate: sampleRate) }
    }
  }

  /// How many channels each feed has.
  package var channels: [Int] { feeds.map(\.channels) }

  /// Plays a file, once.
  /// - Parameters:
  ///   - places: where talkers are whom a part may name, in the device frame.
  ///   - next: returns the next part of the file, `[microphone][frame]`; nil at the end.
  ///   - write: called with as many frames as the file has, in order: `[feed][channel][frame]`.
  /// - Throws: also what `next` and `write` throw.
  package func play(
    places: [String: Direction], instructionSet: InstructionSet, next: () throws -> [[Float]]?,
    write: (_ outputs: [[[Float]]]) throws -> Void
  ) throws {
    var first = start.frames > 0 ? start.microphones : nil
    var position = take?.files.frame ?? 0
    var written = position
    let end = position + (take?.files.frames ?? 0)
    try sets.render(
      feeds, of: device, onDemand: onDemand, model: model, places: places, framesBefore: start.frames,
      clock: start.clock, inputs: start.inputs, period: period, instructionSet: instructionSet,
      next: {
        defer { first = nil }
        if let first { return first }
        guard let part = try next() else { return nil }
        defer { position += part[0].count }
        return take?.gaps.removed(from: part, start: position) ?? part
      },
      write: { outputs in
        func pass(_ outputs: [[[Float]]]) throws {
          try write(zip(outputs, gates).map { channels, gate in gate?.pass(channels) ?? channels })
        }
        guard let gaps = take?.gaps, let count = outputs.first?.first?.count else { return try pass(outputs) }
        for run in gaps.runs(of: count, from: &written, to: end) {
          switch run {
          case .sound(0..<count): try pass(outputs)
          case .sound(let range): try pass(outputs.map { $0.map { Array($0[range]) } })
          case .gap(var frames):
            // Gaps may last for hours.
            while frames > 0 {
              let silence = [Float](repeating: 0, count: min(frames, 16384))
              try pass(outputs.map { $0.map { _ in silence } })
              frames -= silence.count
            }
          }
        }
      })
  }
}
