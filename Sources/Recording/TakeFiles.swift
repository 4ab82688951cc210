import AudioFiles
import Foundation
import Realtime

/// All files of one take, on the disk thread: its stretches one after another, and the sidecar. After the first failed
/// write no more sound is written, and what there is is finished.
final class TakeFiles {
  let stem: String
  private let plan: TakePlan
  private let sidecar: SidecarFile
  private(set) var document: Sidecar
  private var segment: TakeSegment
  private var began: Date?
  /// Why nothing reaches the disk any more.
  private(set) var fault: String?

  init(stem: String, plan: TakePlan) throws(TakeError) {
    self.stem = stem
    self.plan = plan
    document = Sidecar(plan)
    sidecar = try SidecarFile(path: stem + ".json")
    do {
      segment = try TakeSegment(stem: stem, start: 0, plan: plan)
    } catch {
      sidecar.discard()
      throw error
    }
    document.files = [segment.files]
    guard sidecar.write(document) else {
      let reason = String(cString: strerror(errno))
      discard()
      throw TakeError("cannot write \(stem).json.part: \(reason)")
    }
  }

  /// Frames on disk.
  var frames: Int { segment.start + segment.frames }

  /// The first frame was played at `date`.
  func begin(_ date: Date, preRoll: Int) {
    began = date
    document.started = date.text("yyyy-MM-dd'T'HH:mm:ss.SSSxxx")
    document.preRollFrames = preRoll
    setBroadcast()
    secure()
  }

  private func setBroadcast() {
    guard let began else { return }
    let date = began + Double(segment.start) / Double(plan.sampleRate)
    let midnight = Calendar.current.startOfDay(for: date)
    segment.setBroadcast(
      BroadcastExtension(
        description: "\(plan.setup.device) \(plan.setup.dataSource) \(plan.setup.polarPattern)",
        date: date.text("yyyy-MM-dd"), time: date.text("HH:mm:ss"),
        timeReference: Int((date.timeIntervalSince(midnight) * Double(plan.sampleRate)).rounded())))
  }

  /// Whole interleaved frames, outputs first.
  func write(_ frames: UnsafeBufferPointer<Float>) {
    let width = plan.outputs + plan.microphones
    append(frames.count / width) { (done, count) throws(AudioFileError) in
      try segment.write(UnsafeBufferPointer(rebasing: frames[done * width..<(done + count) * width]))
    }
  }

  /// Silence in place of what is missing.
  func write(_ gap: TakeGap, at frame: Int) {
    if gap.cause == .server {
      document.add(Sidecar.Pause(frame: frame, seconds: Double(gap.microseconds) / 1e6))
    } else {
      document.add(Sidecar.Gap(frame: frame, frames: gap.frames, cause: gap.cause))
    }
    append(gap.frames) { (_, count) throws(AudioFileError) in try segment.writeSilence(frames: count) }
  }

  /// Hands on `total` frames in runs that do not cross from one stretch to the next.
  private func append(_ total: Int, _ body: (_ done: Int, _ count: Int) throws(AudioFileError) -> Void) {
    var done = 0
    while done < total, fault == nil {
      let count = min(total - done, (plan.splitFrames ?? .max) - segment.frames)
      do {
        try body(done, count)
        done += count
        if let limit = plan.splitFrames, segment.frames >= limit { try split() }
      } catch {
        fail(String(describing: error))
      }
    }
  }

  /// The next stretch begins with the next frame.
  private func split() throws {
    noteSegment()
    let next = try TakeSegment(
      stem: "\(stem)_\(document.files.count + 1)", start: frames, plan: plan)
    if let fault = segment.close() {
      next.discard()
      throw fault
    }
    document.clippedSamples += segment.clippedSamples
    document.silencedSamples += segment.silencedSamples
    segment = next
    document.files.append(next.files)
    setBroadcast()
    sidecar.write(current)
  }

  private func noteSegment() {
    document.files[document.files.count - 1] = segment.files
    document.frames = frames
  }

  /// With what the stretch that is being written adds.
  private var current: Sidecar {
    var current = document
    current.clippedSamples += segment.clippedSamples
    current.silencedSamples += segment.silencedSamples
    return current
  }

  func note(_ events: [Sidecar.Event]) { document.add(events) }

  /// Readable after a kill and a power cut from here on.
  func secure() {
    guard fault == nil else { return }
    do {
      try segment.secure()
    } catch {
      return fail(String(describing: error))
    }
    noteSegment()
    sidecar.write(current)
  }

  /// What there is is finished, in step to the frame.
  private func fail(_ reason: String) {
    fault = reason
    segment.align()
    _ = segment.close()
  }

  /// Finishes everything.
  /// - Parameters:
  ///   - length: what the take should have.
  ///   - isTime: whether there is time to convert; asked again and again.
  func close(length: Int, isTime: () -> Bool) -> Sidecar {
    if let failure = segment.close() { fault = fault ?? failure.description }
    noteSegment()
    document = current
    dropEmptyStretch()
    document.missing = missing(length)
    convert(while: isTime)
    document.state = document.missing.isEmpty ? .complete : .incomplete
    do { try sidecar.finish(document) } catch { document.missing.append(error.description) }
    return document
  }

  private func convert(while isTime: () -> Bool) {
    guard let compression = plan.options.format.compression else { return }
    let folder = URL(filePath: stem).deletingLastPathComponent().path
    func converted(_ name: String, _ channels: Int) -> String {
      do {
        if let obstacle = compression.obstacle(channels: channels, sampleRate: plan.sampleRate) {
          throw TakeError(obstacle)
        }
        let path = try compression.replace(wav: "\(folder)/\(name)", while: isTime)
        return URL(filePath: path).lastPathComponent
      } catch {
        document.notes.append("\(name) stays WAV: \(error)")
        return name
      }
    }
    for n in document.files.indices {
      document.files[n].outputs = converted(document.files[n].outputs, plan.outputs)
      document.files[n].microphones = document.files[n].microphones.map { converted($0, plan.microphones) }
    }
  }

  /// A take that ends where it was to be split.
  private func dropEmptyStretch() {
    guard let last = document.files.last, last.frames == 0, document.files.count > 1 else { return }
    document.files.removeLast()
    let folder = URL(filePath: stem).deletingLastPathComponent().path
    for name in [last.outputs, last.microphones].compactMap({ $0 }) { unlink("\(folder)/\(name)") }
  }

  /// What the take lacks, a sentence each.
  private func missing(_ length: Int) -> [String] {
    var sentences: [String] = []
    let lost = length - frames
    if let fault {
      sentences.append(lost > 0 ? "the last \(lost) frames: \(fault)" : fault)
    } else if lost > 0 {
      sentences.append("the last \(lost) frames")
    }
    for cause in [TakeGap.Cause.disk, .stall] {
      guard let (first, count, frames) = document.total(of: cause) else { continue }
      let reason = cause == .disk ? "the disk could not keep up" : "Pinna was left out of periods"
      let places = count == 1 ? "at frame \(first)" : "in \(count) places from frame \(first)"
      sentences.append("\(frames) frames \(places) are silence: \(reason)")
    }
    return sentences
  }

  /// The take never began.
  func discard() {
    segment.discard()
    sidecar.discard()
  }
}
