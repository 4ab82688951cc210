import Acoustics
import Realtime

extension FilterSets {
  /// Other filters from a frame on, as in a take whose microphones failed and returned.
  public struct Substitution: Sendable {
    public let frame: Int
    /// Nil for the filters of all microphones.
    public let filters: FilterSets?

    public init(frame: Int, filters: FilterSets?) {
      self.frame = frame
      self.filters = filters
    }
  }

  /// Runs the engine over signals in memory, without a server. The output is what the process callback would play,
  /// delayed by the filters' modelling delay.
  /// - Parameters:
  ///   - microphones: shape `[microphone][frame]`, in the order of the device's microphones.
  ///   - gain, highPass: of the outputs.
  ///   - substitutions: in the order of their frames. A crossfade begins with each; one from frame 0 is in force from
  ///     the start.
  ///   - period: number of frames that the engine processes at a time.
  /// - Returns: as many frames as the input has; of B-format the first two channels.
  /// - Throws: the errors of `filters(for:of:)`.
  public func render(
    _ microphones: [[Float]], selection: Selection, of device: Device, gain: Decibels = Decibels(0),
    highPass: HighPass = .off, substitutions: [Substitution] = [], period: Int = 1024,
    instructionSet: InstructionSet = .best
  ) throws -> (left: [Float], right: [Float]) {
    var output: (left: [Float], right: [Float]) = ([], [])
    var parts = [microphones]
    try render(
      selection: selection, of: device, gain: gain, highPass: highPass, substitutions: substitutions,
      period: period, instructionSet: instructionSet, next: { parts.popLast() },
      write: { outputs in
        output.left += outputs[0]
        output.right += outputs[min(1, outputs.count - 1)]
      })
    return output
  }

  /// The same for sound of any length: no more of it is in memory than a part.
  /// - Parameters:
  ///   - framesBefore: how many of the frames only precede what is rendered. They are processed, and their outputs are
  ///     not written.
  ///   - next: returns the next part, of any number of frames; nil at the end.
  ///   - write: called with the outputs, in order, as many frames in all as the input has after those: shape
  ///     `[output][frame]`, with as many outputs as the pattern has.
  /// - Throws: also what `next` and `write` throw.
  public func render(
    selection: Selection, of device: Device, gain: Decibels = Decibels(0), highPass: HighPass = .off,
    substitutions: [Substitution] = [], framesBefore: Int = 0, period: Int = 1024,
    instructionSet: InstructionSet = .best, next: () throws -> [[Float]]?,
    write: (_ outputs: [[Float]]) throws -> Void
  ) throws {
    func filters(_ substitute: FilterSets?) throws -> FilterSet {
      try (substitute ?? self).filters(for: selection, of: device)
    }
    let engine = makeEngine(instructionSet: instructionSet)
    let set = try filters(substitutions.last { $0.frame <= 0 }?.filters)
    let (amplitude, corner) = (Float(gain.amplitude), highPass.frequency?.value)
    // `main` has two outputs at most.
    let others = set.outputs > 2 ? set.outputs : 0
    var feed = 0
    if others > 0 {
      feed = engine.startFeed(with: set, firstOutput: 0, gain: amplitude, highPass: corner) ?? 0
    } else {
      engine.start(with: set, gain: amplitude, highPass: corner)
    }
    var run = OfflineRun(
      engine, microphones: [[Float]](repeating: [], count: engine.microphones), feedOutputs: others)
    var coming = substitutions.filter { $0.frame > 0 }[...]
    var given = 0
    var ahead = framesBefore
    func writeOutput() throws {
      let skipped = min(ahead, run.left.count)
      ahead -= skipped
      let outputs = others > 0 ? run.feeds : Array([run.left, run.right].prefix(set.outputs))
      try write(outputs.map { Array($0.dropFirst(skipped)) })
      run.discardOutput()
    }
    while let part = try next() {
      run.append(part)
      given += part[0].count
      while let substitution = coming.first, substitution.frame < given {
        run.run(to: substitution.frame, period: period)
        _ = engine.drainReports()
        _ = try engine.substitute(
          feed: feed, filters(substitution.filters), gain: amplitude, highPass: corner)
        coming.removeFirst()
      }
      run.run(wholePeriodsTo: given, period: period)
      try writeOutput()
    }
    run.run(total: given, period: period)
    try writeOutput()
  }

  /// A selection that is requested before a frame.
  public typealias Change = (frame: Int, selection: Selection)

  /// Runs one engine over signals in memory while the selection changes, as a running Pinna does: a crossfade begins
  /// with the first period after each change's frame.
  /// - Parameters:
  ///   - microphones: shape `[microphone][frame]`, in the order of the device's microphones.
  ///   - changes: in the order of their frames, further apart than a crossfade. The first is in force from the start.
  ///   - period: number of frames that the engine processes at a time.
  /// - Returns: as many frames as the input has.
  /// - Throws: the errors of `filters(for:of:)`.
  public func render(
    _ microphones: [[Float]], changes: [Change], of device: Device, period: Int = 1024,
    instructionSet: InstructionSet = .best
  ) throws -> (left: [Float], right: [Float]) {
    guard let first = changes.first else { return ([], []) }
    let engine = makeEngine(instructionSet: instructionSet)
    engine.start(with: try filters(for: first.selection, of: device), gain: 1)
    var run = OfflineRun(engine, microphones: microphones)
    for change in changes.dropFirst() {
      // Whole periods only, as in a graph.
      run.run(to: (change.frame + period - 1) / period * period, period: period)
      _ = engine.drainReports()
      _ = try engine.change(to: filters(for: change.selection, of: device), gain: 1)
    }
    run.run(total: microphones.first?.count ?? 0, period: period)
    return (run.left, run.right)
  }
}
