import AudioFiles
import Foundation

/// The sound files of one stretch of a take: outputs, and microphones where they are wanted, in step to the frame.
final class TakeSegment {
  /// Frame of the take at which it begins.
  let start: Int
  private let plan: TakePlan
  private let outputs: AudioFileWriter
  private var microphones: AudioFileWriter?
  private(set) var silencedSamples = 0

  /// - Parameter stem: of its files' paths.
  init(stem: String, start: Int, plan: TakePlan) throws(TakeError) {
    self.start = start
    self.plan = plan
    outputs = try Self.open(stem + ".wav", plan, plan.outputs)
    guard plan.microphones > 0 else { return }
    do {
      microphones = try Self.open(stem + "-microphones.wav", plan, plan.microphones)
    } catch {
      outputs.abandon()
      throw error
    }
  }

  private static func open(_ path: String, _ plan: TakePlan, _ channels: Int) throws(TakeError)
    -> AudioFileWriter
  {
    do {
      return try AudioFileWriter(
        path: path, encoding: plan.options.format.encoding, channels: channels, sampleRate: plan.sampleRate,
        broadcast: .unknown, replacing: false)
    } catch {
      throw TakeError(error.description)
    }
  }

  private var writers: [AudioFileWriter] { [outputs] + (microphones.map { [$0] } ?? []) }
  var frames: Int { outputs.framesWritten }
  var clippedSamples: Int { writers.reduce(0) { $0 + $1.clippedSamples } }

  /// By their names in the take's folder.
  var files: Sidecar.Files {
    func name(_ writer: AudioFileWriter) -> String { URL(filePath: writer.path).lastPathComponent }
    return Sidecar.Files(
      frame: start, frames: frames, outputs: name(outputs), microphones: microphones.map(name))
  }

  func setBroadcast(_ broadcast: BroadcastExtension) {
    for writer in writers { writer.setBroadcast(broadcast) }
  }

  /// Whole interleaved frames, outputs first. What is no number becomes silence.
  func write(_ frames: UnsafeBufferPointer<Float>) throws(AudioFileError) {
    try outputs.write(channels(0..<plan.outputs, of: frames))
    try microphones?.write(channels(plan.outputs..<plan.outputs + plan.microphones, of: frames))
  }

  func writeSilence(frames: Int) throws(AudioFileError) {
    for writer in writers { try writer.skip(frames: frames) }
  }

  private func channels(_ span: Range<Int>, of frames: UnsafeBufferPointer<Float>) -> [Float] {
    let width = plan.outputs + plan.microphones
    let count = frames.count / width
    var silenced = 0
    let samples = [Float](unsafeUninitializedCapacity: count * span.count) { buffer, filled in
      for n in 0..<count {
        for channel in span {
          let sample = frames[n * width + channel]
          if !sample.isFinite { silenced += 1 }
          buffer[filled] = sample.isFinite ? sample : 0
          filled += 1
        }
      }
    }
    silencedSamples += silenced
    return samples
  }

  func secure() throws(AudioFileError) {
    for writer in writers { try writer.secure() }
  }

  /// After a failed write: all files end with the last frame that each of them has.
  func align() {
    let common = writers.map(\.framesWritten).min() ?? 0
    for writer in writers { writer.end(atFrame: common) }
  }

  /// Gives the files their names; the first thing that went wrong.
  func close() -> AudioFileError? {
    var fault: AudioFileError?
    for writer in writers {
      do { try writer.close() } catch { fault = fault ?? error }
    }
    return fault
  }

  func discard() {
    for writer in writers { writer.abandon() }
  }
}
