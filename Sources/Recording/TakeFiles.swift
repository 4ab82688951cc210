import AudioFiles
import Foundation
import Realtime

/// All files of one take, on the disk thread: its stretches one after another, and the sidecar. After the first failed
/// write no more sound is written, and what there is is finished.
final class TakeFiles {
  let folder: OpenFolder
  /// What the names of all its files begin with.
  let stem: String
  private let plan: TakePlan
  private let sidecar: SidecarFile
  private let watch: DiskWatch
  private(set) var document: Sidecar
  private var segment: TakeSegment
  /// Length of the present stretch at which the next begins; nil where none does.
  private var splitAt: Int?
  private var began: Date?
  /// Why nothing reaches the disk any more.
  private(set) var fault: String?
  /// What else went wrong with files of the take, a sentence each.
  private var faults: [String] = []
  /// Names of sound files that stayed `.part`.
  private var unfinished: Set<String> = []
  private var notes: Set<Note> = []

  /// What a sidecar says once, however often it happens.
  private enum Note { case lock, stretch }

  /// Claims the take's name, and opens its first files.
  init(folder: OpenFolder, stem: String, sidecar: SidecarFile, plan: TakePlan, watch: DiskWatch)
    throws(TakeError)
  {
    self.folder = folder
    self.stem = stem
    self.sidecar = sidecar
    self.plan = plan
    self.watch = watch
    document = Sidecar(plan)
    splitAt = plan.splitFrames
    do {
      segment = try TakeSegment(folder: folder, stem: stem, start: 0, plan: plan)
    } catch {
      sidecar.discard()
      throw error
    }
    document.files = [segment.files]
    if let reason = sidecar.lockFault ?? segment.lockFault { noteLock(reason) }
    watch.ask()
    do throws(TakeError) {
      try sidecar.write(document)
    } catch {
      discard()
      throw error
    }
  }

  /// Of the outputs' first file, once it has its name.
  var path: String { folder.path(of: stem + ".wav") }

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
      watch.ask()
      if let limit = splitAt, segment.frames >= limit { split() }
      let count = min(total - done, (splitAt ?? .max) - segment.frames)
      do throws(AudioFileError) {
        try body(done, count)
        done += count
      } catch {
        fail(error.description)
      }
    }
  }

  /// The next stretch begins with the next frame; where none can be had, this one goes on, which loses nothing. The
  /// sidecar hears of it within a second, as of everything: writing it here would cost each stretch more than the one
  /// before. Until then `TakeFolder.repair` knows the stretch by its name.
  private func split() {
    noteSegment()
    let name = segment.files.outputs
    guard document.files.count < plan.options.mostStretches else {
      splitAt = nil
      return note(
        .stretch, "\(name) goes on to the end: no take has more than \(plan.options.mostStretches) stretches")
    }
    let next: TakeSegment
    do throws(TakeError) {
      next = try TakeSegment(
        folder: folder, stem: "\(stem)_\(document.files.count + 1)", start: frames, plan: plan)
    } catch {
      // Tried again a second later.
      splitAt! += plan.sampleRate
      return note(.stretch, "\(name) is longer than asked: the next file could not be made (\(error))")
    }
    watch.ask()
    closeSegment()
    document.clippedSamples += segment.clippedSamples
    document.silencedSamples += segment.silencedSamples
    segment = next
    splitAt = plan.splitFrames
    document.files.append(next.files)
    if let reason = next.lockFault { noteLock(reason) }
    setBroadcast()
    watch.ask()
  }

  private func closeSegment() {
    faults += segment.close()
    unfinished.formUnion(segment.unfinished)
  }

  private func note(_ kind: Note, _ sentence: String) {
    if notes.insert(kind).inserted { document.notes.append(sentence) }
  }

  private func noteLock(_ reason: String) {
    note(
      .lock,
      "nothing keeps `pinna takes repair` from this take while it runs: its files cannot be locked (\(reason))"
    )
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
    watch.ask()
    do throws(AudioFileError) {
      try segment.secure()
    } catch {
      return fail(error.description)
    }
    watch.ask()
    noteSegment()
    // What could not be written is written in a second, or at the end, which tells.
    try? sidecar.write(current)
  }

  /// What there is is finished, in step to the frame.
  private func fail(_ reason: String) {
    fault = reason
    segment.align()
    closeSegment()
  }

  /// Finishes everything.
  /// - Parameters:
  ///   - length: what the take should have.
  ///   - isTime: whether there is time to convert; asked again and again.
  func close(length: Int, isTime: () -> Bool) -> Sidecar {
    watch.ask()
    closeSegment()
    noteSegment()
    document = current
    document.missing = missing(length)
    if folder.isMoved {
      document.notes.append("the takes folder was moved while the take ran; it is \(folder.path) now")
    }
    watch.ask()
    convert(while: isTime)
    document.state = document.missing.isEmpty ? .complete : .incomplete
    watch.ask()
    do throws(TakeError) {
      // Repair begins with a sidecar that has no name yet.
      try sidecar.finish(document, named: unfinished.isEmpty)
    } catch {
      document.missing.append("\(error): \(AudioFileWriter.remedy)")
      document.state = .incomplete
    }
    return document
  }

  /// Where the outputs' first file is.
  var finalPath: String {
    let name = document.files[0].outputs
    return folder.path(of: unfinished.contains(name) ? name + ".part" : name)
  }

  private func convert(while isTime: () -> Bool) {
    guard let compression = plan.options.format.compression else { return }
    func converted(_ name: String, _ channels: Int) -> String {
      guard !unfinished.contains(name), folder.contains(name) else { return name }
      do throws(AudioFileError) {
        if let obstacle = compression.obstacle(channels: channels, sampleRate: plan.sampleRate) {
          throw AudioFileError(obstacle)
        }
        return try compression.replace(wav: name, in: folder) {
          watch.ask()
          return isTime()
        }
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

  /// What the take lacks, a sentence each.
  private func missing(_ length: Int) -> [String] {
    var sentences: [String] = []
    let lost = length - frames
    if let fault {
      sentences.append(lost > 0 ? "the last \(lost) frames: \(fault)" : fault)
    } else if lost > 0 {
      sentences.append("the last \(lost) frames")
    }
    sentences += faults
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
