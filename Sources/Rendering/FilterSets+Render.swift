import Acoustics
import Realtime

extension FilterSets {
  /// Left and right, as long as the input: what the process callback would play, without a server.
  /// - Parameters:
  ///   - microphones: Shape `[microphone][frame]`, in the order of the device's microphones.
  ///   - period: frames that the engine processes at a time.
  /// - Throws: as `filters(for:of:)`.
  public func render(
    _ microphones: [[Float]], selection: Selection, of device: Device, gain: Decibels = Decibels(0),
    period: Int = 1024, instructionSet: InstructionSet = .best
  ) throws -> (left: [Float], right: [Float]) {
    let engine = makeEngine(instructionSet: instructionSet)
    engine.start(with: try filters(for: selection, of: device), gain: Float(gain.amplitude))
    var run = OfflineRun(engine, microphones: microphones)
    run.run(total: microphones.first?.count ?? 0, period: period)
    return (run.left, run.right)
  }
}
