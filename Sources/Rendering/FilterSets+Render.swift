import Acoustics
import Realtime

extension FilterSets {
  /// Runs the engine over signals in memory, without a server. The output is what the process callback would play,
  /// delayed by the filters' modelling delay.
  /// - Parameters:
  ///   - microphones: shape `[microphone][frame]`, in the order of the device's microphones.
  ///   - gain, highPass: of the outputs.
  ///   - period: number of frames that the engine processes at a time.
  /// - Returns: as many frames as the input has.
  /// - Throws: the errors of `filters(for:of:)`.
  public func render(
    _ microphones: [[Float]], selection: Selection, of device: Device, gain: Decibels = Decibels(0),
    highPass: HighPass = .off, period: Int = 1024, instructionSet: InstructionSet = .best
  ) throws -> (left: [Float], right: [Float]) {
    let engine = makeEngine(instructionSet: instructionSet)
    engine.start(
      with: try filters(for: selection, of: device), gain: Float(gain.amplitude),
      highPass: highPass.frequency?.value)
    var run = OfflineRun(engine, microphones: microphones)
    run.run(total: microphones.first?.count ?? 0, period: period)
    return (run.left, run.right)
  }
}
