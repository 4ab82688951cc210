import Acoustics
import Realtime
import Recording
import Settings

/// What comes before the file's first frame, and what feeds played besides their settings.
extension TakeMicrophones {
  /// What comes before the file's first frame.
  struct Start {
    /// The microphones, without gaps. Shape: `[microphone][frame]`
    var microphones: [[Float]] = []
    /// The engine's clock at the first of these frames.
    var clock = 0
    /// What the engine remembered before one of these, or the next.
    var inputs: FilterSets.InputStart?

    var frames: Int { microphones.first?.count ?? 0 }
  }

  /// What comes before the file's first frame: what the engine remembered when the take began, and the take's frames
  /// before the file's, from the files before it.
  /// - Parameters:
  ///   - count: how many are wanted. There are fewer where the take begins and the engine's memory is not there, and none
  ///     if a file is missing, which is said.
  ///   - period: they begin with a period of the whole take.
  func start(_ count: Int, period: Int) -> Start {
    var start = Start()
    let before = gaps.engineFrames(before: files.frame)
    // Periods begin with the take's first frame after the pre-roll.
    let preRoll = sidecar.engine == nil ? 0 : sidecar.preRollFrames
    let zero = (sidecar.engine?.frame ?? 0) - preRoll
    let grid = preRoll % period
    let first = before - count >= grid ? (before - count - grid) / period * period + grid : 0
    let frame = gaps.firstFrame(afterEngineFrames: first)
    var microphones: [[Float]] = []
    do throws(TakeError) {
      // Gaps have no frames of the engine, and may last for hours.
      for run in frame < files.frame ? gaps.sound(in: frame..<files.frame) : [] {
        let block = try sidecar.microphones(before: run.upperBound, count: run.count, in: folder)
        microphones = microphones.isEmpty ? block : zip(microphones, block).map { $0 + $1 }
      }
    } catch {
      tell("\(error); \(path) is rendered as if silence came before it")
      start.clock = zero + before
      return start
    }
    (start.microphones, start.clock) = (microphones, zero + first)
    guard first == 0 else { return start }
    var lead = [[Float]](
      repeating: [Float](repeating: 0, count: (period - grid) % period),
      count: sidecar.setup.microphones.count)
    if let memory = sidecar.memory(in: folder), memory.period == period {
      if preRoll == 0 { lead = memory.microphones }
      start.inputs = FilterSets.InputStart(frame: lead[0].count + preRoll, memory: memory)
    }
    start.clock -= lead[0].count
    start.microphones =
      start.microphones.isEmpty ? lead : zip(lead, start.microphones).map { $0 + $1 }
    return start
  }

  /// The engine had no frames in gaps.
  /// - Parameter frame: of the file.
  func engineFrames(before frame: Int) -> Int {
    gaps.engineFrames(before: files.frame + frame) - gaps.engineFrames(before: files.frame)
  }

  /// The memory of a feed's high-pass, if it is rendered as it was recorded.
  func highPass(of feed: String, _ start: Start) -> (frame: Int, memory: [SIMD2<Double>])? {
    guard let inputs = start.inputs else { return nil }
    let feeds = sidecar.allFeeds
    let first = feeds.prefix { $0.name != feed }.reduce(0) { $0 + $1.channels.count }
    let channels = feeds.first { $0.name == feed }?.channels.count ?? 0
    guard channels > 0, first + channels <= inputs.memory.highPasses.count else { return nil }
    return (inputs.frame, Array(inputs.memory.highPasses[first..<first + channels]))
  }

  /// From each frame on, counted from the first of `start`, which microphones a feed's filters did without, and what was
  /// played in place of a selection that follows; empty if neither ever happened.
  /// - Parameter selection: what was set for it.
  /// - Throws: if the sidecar lists what no take can have.
  func substitutions(of feed: String, _ selection: Selection, _ start: Start) throws(Failure) -> [(
    frame: Int, without: Set<String>, turned: Selection?
  )] {
    try checkFallbacks()
    let shift = start.frames - gaps.engineFrames(before: files.frame)
    // What is listed at the take's first frame was in force before, too: a take begins between fades.
    func engine(_ frame: Int) -> Int { frame <= 0 ? 0 : gaps.engineFrames(before: frame) + shift }
    var listed: [(frame: Int, without: Set<String>?, turn: Sidecar.Turn?)] =
      sidecar.fallbacks(from: 0, of: feed).map { (engine($0.frame), Set($0.without), nil) }
    do throws(TakeError) {
      let turns = selection.follows.isEmpty ? [] : try sidecar.turns(of: feed)
      listed += turns.map { (engine($0.frame), nil, $0) }
    } catch { throw Failure(.failed, "\(path): \(error); move the sidecar away to render without them") }
    listed = listed.enumerated().sorted { ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset) }
      .map(\.element)
    var present: (without: Set<String>, turn: Sidecar.Turn?) = ([], nil)
    var states: [(frame: Int, without: Set<String>, turn: Sidecar.Turn?)] = []
    for next in listed {
      present = (next.without ?? present.without, next.turn ?? present.turn)
      if states.last?.frame == next.frame { states.removeLast() }
      states.append((next.frame, present.without, present.turn))
    }
    // Those that matter no more when the file begins need no filters.
    let used = Array(states.filter { $0.frame <= 0 }.suffix(1)) + states.filter { $0.frame > 0 }
    guard used.contains(where: { !$0.without.isEmpty || $0.turn != nil }) else { return [] }
    return used.map { ($0.frame, $0.without, $0.turn?.played(selection)) }
  }

  private func checkFallbacks() throws(Failure) {
    let (all, names) = (sidecar.heardFallbacks, sidecar.setup.microphones)
    let isPlausible =
      all.allSatisfy { Set($0.without).isSubset(of: names) && 2 * Set($0.without).count <= names.count }
      && Set(all.map(\.feed)).allSatisfy { feed in
        let own = all.filter { $0.feed == feed }
        return zip(own, own.dropFirst()).allSatisfy { $0.frame < $1.frame } && own[0].frame >= 0
      }
    guard isPlausible else {
      throw Failure(
        .failed,
        "the sidecar beside \(path) lists fallbacks that its take cannot have had; move it away to render without them"
      )
    }
  }
}
