import Messages
import Processor
import Realtime
import Recording
import Rendering
import Settings

extension FilterSets {
  /// Makes an engine with a pre-roll buffer of at most 256 MB. Takes begin with its contents.
  ///
  /// Thread: worker; it allocates the buffer.
  func makeEngine(preRollSeconds: Int, instructionSet: InstructionSet) throws(Failure) -> Engine {
    guard preRollSeconds > 0 else { return makeEngine(instructionSet: instructionSet, adapts: true) }
    let microphones = bank.microphones.count
    let preRoll: PreRoll
    do throws(OutOfMemory) {
      preRoll = try PreRoll(
        microphones: microphones,
        reservingFrames: min(
          preRollSeconds * bank.sampleRate, TakePlan.maximumFrames(channels: microphones + 2)))
    } catch {
      throw Failure(
        .failed,
        "not enough memory for a pre-roll of \(preRollSeconds) s (\(error)); start pinna run with a shorter "
          + "--pre-roll, or give it more memory")
    }
    return makeEngine(preRoll: preRoll, instructionSet: instructionSet, adapts: true)
  }
}
