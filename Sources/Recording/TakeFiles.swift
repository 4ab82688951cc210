import AudioFiles
import Foundation
import Realtime

/// The files of one take, on the disk thread: outputs, microphones where they are wanted, and the sidecar. After the
/// first failed write no more sound is written, and what there is is finished.
final class TakeFiles {
  let stem: String
  private let plan: TakePlan
  private let sidecar: SidecarFile
  private(set) var document: Sidecar
  private var outputs: AudioFileWriter
  private var microphones: AudioFileWriter?
  /// Frames in earlier files.
  private var finished = 0
  /// Why nothing reaches the disk any more.
  private(set) var fault: String?
  private var scratch: [Float] = []

  init(stem: String, plan: TakePlan) throws(TakeError) {
    self.stem = stem
    self.plan = plan
    document = Sidecar(plan)
    sidecar = try SidecarFile(path: stem + ".json")
    do {
      outputs = try Self.open(stem + ".wav", plan, plan.outputs)
    } catch {
      sidecar.discard()
      throw error
    }
    do {
      if plan.microphones > 0 {
        microphones = try Self.open(stem + "-microphones.wav", plan, plan.microphones)
      }
    } catch {
      sidecar.discard()
      outputs.abandon()
      throw error
    }
    noteFiles()
    guard sidecar.write(document) else {
      discard()
      throw TakeError("cannot write \(stem).json.part: \(String(cString: strerror(errno)))")
    }
  }

  private static func open(_ path: String, _ plan: TakePlan, _ channels: Int) throws(TakeError)
    -> AudioFileWriter
  {
    do {
      return try AudioFileWriter(
        path: path, encoding: plan.options.encoding, channels: channels, sampleRate: plan.sampleRate,
        broadcast: BroadcastExtension(description: "", date: "", time: "", timeReference: 0), replacing: false
      )
    } catch {
      throw TakeError(error.description)
    }
  }

  /// Frames on disk.
  var frames: Int { finished + outputs.framesWritten }

  private func noteFiles() {
    document.files.append(
      Sidecar.Files(
        frame: finished, frames: 0, outputs: URL(filePath: outputs.path).lastPathComponent,
        microphones: microphones.map { URL(filePath: $0.path).lastPathComponent }))
  }

  /// The first frame was played at `date`.
  func begin(_ date: Date, preRoll: Int) {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ss.SSSxxx"
    document.started = formatter.string(from: date)
    document.preRollFrames = preRoll
    let midnight = Calendar.current.startOfDay(for: date)
    formatter.dateFormat = "yyyy-MM-dd"
    let day = formatter.string(from: date)
    formatter.dateFormat = "HH:mm:ss"
    let broadcast = BroadcastExtension(
      description: "\(plan.setup.device) \(plan.setup.dataSource) \(plan.setup.polarPattern)", date: day,
      time: formatter.string(from: date),
      timeReference: Int(date.timeIntervalSince(midnight) * Double(plan.sampleRate)))
    outputs.setBroadcast(broadcast)
    microphones?.setBroadcast(broadcast)
    secure()
  }

  /// Whole interleaved frames, outputs first. What is no number becomes silence.
  func write(_ frames: UnsafeBufferPointer<Float>) {
    guard fault == nil else { return }
    let width = plan.outputs + plan.microphones
    let count = frames.count / width
    do {
      try outputs.write(take(frames, from: 0, channels: plan.outputs, of: width, count))
      if let microphones {
        try microphones.write(take(frames, from: plan.outputs, channels: plan.microphones, of: width, count))
      }
    } catch {
      fail(String(describing: error))
    }
  }

  private func take(
    _ frames: UnsafeBufferPointer<Float>, from first: Int, channels: Int, of width: Int, _ count: Int
  ) -> [Float] {
    var silenced = 0
    let samples = [Float](unsafeUninitializedCapacity: count * channels) { buffer, filled in
      for n in 0..<count {
        for channel in 0..<channels {
          let sample = frames[n * width + first + channel]
          if !sample.isFinite { silenced += 1 }
          buffer[n * channels + channel] = sample.isFinite ? sample : 0
        }
      }
      filled = count * channels
    }
    document.silencedSamples += silenced
    return samples
  }

  /// Silence in place of what is missing.
  func write(_ gap: TakeGap, at frame: Int) {
    if gap.cause == .server {
      document.pauses.append(.init(frame: frame, seconds: Double(gap.microseconds) / 1e6))
    } else {
      document.gaps.append(.init(frame: frame, frames: gap.frames, cause: gap.cause))
    }
    guard fault == nil else { return }
    do {
      try outputs.skip(frames: gap.frames)
      try microphones?.skip(frames: gap.frames)
    } catch {
      fail(String(describing: error))
    }
  }

  func note(_ events: [Sidecar.Event]) { document.events += events }

  /// Readable after a kill and a power cut from here on.
  func secure() {
    guard fault == nil else { return }
    do {
      try outputs.secure()
      try microphones?.secure()
    } catch {
      return fail(String(describing: error))
    }
    update()
    sidecar.write(document)
  }

  private func update() {
    document.files[document.files.count - 1].frames = outputs.framesWritten
    document.frames = frames
    document.clippedSamples = outputs.clippedSamples + (microphones?.clippedSamples ?? 0)
  }

  /// What there is is finished, in step to the frame.
  private func fail(_ reason: String) {
    fault = reason
    let common = min(outputs.framesWritten, microphones?.framesWritten ?? .max)
    outputs.end(atFrame: common)
    microphones?.end(atFrame: common)
    closeSound()
  }

  private func closeSound() {
    for file in [outputs, microphones].compactMap({ $0 }) {
      do { try file.close() } catch { fault = fault ?? String(describing: error) }
    }
  }

  /// Finishes everything. `missing` is what the take lacks.
  func close(length: Int) -> Sidecar {
    closeSound()
    update()
    let lost = length - frames
    if let fault {
      document.missing.append(lost > 0 ? "the last \(lost) frames: \(fault)" : fault)
    } else if lost > 0 {
      document.missing.append("the last \(lost) frames")
    }
    for cause in [TakeGap.Cause.disk, .stall] {
      let gaps = document.gaps.filter { $0.cause == cause }
      guard let first = gaps.first else { continue }
      let frames = gaps.reduce(0) { $0 + $1.frames }
      let reason = cause == .disk ? "the disk could not keep up" : "Pinna got no processor time"
      let places =
        gaps.count == 1 ? "at frame \(first.frame)" : "in \(gaps.count) places from frame \(first.frame)"
      document.missing.append("\(frames) frames \(places) are silence: \(reason)")
    }
    document.state = document.missing.isEmpty ? .complete : .incomplete
    if !sidecar.finish(document) {
      document.missing.append("\(stem).json could not be written: \(String(cString: strerror(errno)))")
    }
    return document
  }

  /// The take never began.
  func discard() {
    outputs.abandon()
    microphones?.abandon()
    sidecar.discard()
  }
}
