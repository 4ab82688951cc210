import AudioFiles
import FoundationEssentials
import Glibc
import Realtime

/// All files of one take: its segments, one after another, and the sidecar. After the first failed write, no more audio
/// is written, and the files are finished.
///
/// Thread: the take's disk thread makes all calls.
final class TakeFiles {
  let folder: OpenFolder
  /// The common prefix of its file names.
  let stem: String
  private let plan: TakePlan
  private let sidecar: SidecarFile
  private let watch: DiskWatch
  private(set) var document: Sidecar
  private var segment: TakeSegment
  /// Length in frames at which the present segment ends; nil if it is the last.
  private var segmentLimit: Int?
  private var began: Date?
  /// Why writing stopped; nil while all is well.
  private(set) var fault: String?
  /// Which file or folder was removed during the take, so that its audio is lost; nil if none.
  private(set) var loss: String?
  /// Other errors with files of the take, one sentence each.
  private var faults: [String] = []
  /// Names of sound files that stayed `.part`.
  private var unfinished: Set<String> = []
  /// Of the engine when the take began, for the first file of the microphones.
  private var memory: [UInt8] = []
  private var notedOnce: Set<NoteKind> = []
  /// Listed gaps in which Pinna was not called, and when, on the monotonic clock.
  private var unexplained: [(frame: Int, time: Range<Int>)] = []

  /// Notes that a sidecar contains only once, however often they apply.
  private enum NoteKind { case lock, segment, cues }

  /// Opens the first segment, and writes the sidecar that has claimed the take's name.
  init(folder: OpenFolder, stem: String, sidecar: SidecarFile, plan: TakePlan, watch: DiskWatch)
    throws(TakeError)
  {
    self.folder = folder
    self.stem = stem
    self.sidecar = sidecar
    self.plan = plan
    self.watch = watch
    document = Sidecar(plan)
    segmentLimit = plan.splitFrames
    do {
      segment = try TakeSegment(folder: folder, stem: stem, start: 0, plan: plan)
    } catch {
      sidecar.discard()
      throw error
    }
    document.files = [segment.files]
    if let reason = sidecar.lockFault ?? segment.lockFault { noteLock(reason) }
    watch.begin()
    do throws(TakeError) {
      try sidecar.write(document)
    } catch {
      discard()
      throw error
    }
  }

  /// The final path of the first file.
  var path: String { folder.path(of: document.files[0].first) }

  /// Frames on disk.
  var frames: Int { segment.start + segment.frames }

  /// Begins the take, whose first frame was played at `date`.
  /// - Parameter transportFrame: the transport's frame after the pre-roll, if the transport began the take.
  /// - Parameter memory: of the engine, if the microphones are recorded.
  func begin(_ date: Date, preRoll: Int, transportFrame: Int?, memory: EngineMemory?) {
    began = date
    // Other formats round the microphones, and a file of limited size has no room for it.
    // As bytes from now on: at the end there may be no memory.
    let isExact = plan.options.format == .float && plan.options.splitMegabytes == nil
    self.memory = isExact ? memory?.bytes ?? [] : []
    document.engine = memory.map {
      Sidecar.Engine(period: $0.period, frame: $0.frame, instructionSet: $0.instructionSet.rawValue)
    }
    document.started = date.localTimestamp
    document.preRollFrames = preRoll
    document.transportFrame = transportFrame
    setBroadcast()
    flush()
  }

  private func setBroadcast() {
    guard let began else { return }
    let date = began + Double(segment.start) / Double(plan.sampleRate)
    let timeReference = date.timeIntervalSince(date.startOfLocalDay) * Double(plan.sampleRate)
    segment.setBroadcast { content in
      BroadcastExtension(
        description: "\(plan.setup.device) \(content)"
          + (plan.setup.pinna.map { BroadcastExtension.recorded + $0 } ?? ""),
        date: date.localText("%Y-%m-%d"), time: date.localText("%H:%M:%S"),
        timeReference: Int(timeReference.rounded()))
    }
  }

  /// How many of `count` further frames belong to the take: all, unless it ends by itself.
  private func room(_ count: Int) -> Int {
    guard let limit = plan.lengthLimit else { return count }
    return max(0, min(count, document.preRollFrames + limit - frames))
  }

  /// Writes whole interleaved frames, as the ring has them.
  func write(_ frames: UnsafeBufferPointer<Float>) {
    let width = plan.channels
    append(room(frames.count / width)) { (done, count) throws(AudioFileError) in
      try segment.write(UnsafeBufferPointer(rebasing: frames[done * width..<(done + count) * width]))
    }
  }

  /// Writes silence for a gap, and lists the gap or pause.
  func write(_ gap: TakeGap, at frame: Int) {
    let count = room(gap.frames)
    if gap.cause == .server {
      document.add(Sidecar.Pause(frame: frame, seconds: Double(gap.microseconds) / 1e6))
    } else if count > 0 {
      document.add(Sidecar.Gap(frame: frame, frames: count, cause: gap.cause))
    }
    // One without frames counts only if it turns out to be freewheel, or another period, of which PipeWire told up to a
    // period before: at most 8192 frames.
    if gap.cause == .stall, plan.explain != nil, unexplained.count < Sidecar.listLimit {
      let start = gap.microseconds - (gap.frames > 0 ? gap.frames : 8192) * 1_000_000 / plan.sampleRate
      unexplained.append((frame, start..<max(start, gap.microseconds)))
    }
    append(count) { (_, count) throws(AudioFileError) in try segment.writeSilence(frames: count) }
  }

  /// Calls `body` for `total` frames in runs that do not cross a segment boundary.
  private func append(_ total: Int, _ body: (_ done: Int, _ count: Int) throws(AudioFileError) -> Void) {
    var done = 0
    while done < total, fault == nil {
      watch.begin()
      if let limit = segmentLimit, segment.frames >= limit { split() }
      let count = min(total - done, (segmentLimit ?? .max) - segment.frames)
      do throws(AudioFileError) {
        try body(done, count)
        done += count
      } catch {
        fail(error.reason)
      }
    }
  }

  /// Begins a new segment with the next frame. If that fails, the present one continues, and nothing is lost.
  ///
  /// The sidecar lists the new segment within a second. Writing it here would cost more with every segment. Until then
  /// `TakeFolder.repair` recognises the segment by its name.
  private func split() {
    noteSegment()
    let name = segment.files.first
    guard document.files.count < plan.options.maximumSegments else {
      segmentLimit = nil
      return note(
        .segment,
        "\(name) continues to the end of the take: a take has at most \(plan.options.maximumSegments) segments"
      )
    }
    let next: TakeSegment
    do throws(TakeError) {
      next = try TakeSegment(
        folder: folder, stem: "\(stem)_\(document.files.count + 1)", start: frames, plan: plan)
    } catch {
      // Try again one second later.
      segmentLimit! += plan.sampleRate
      return note(.segment, "\(name) is longer than requested: the next file could not be created (\(error))")
    }
    watch.begin()
    closeSegment(isLast: false)
    document.clippedSamples += segment.clippedSamples
    document.silencedSamples += segment.silencedSamples
    segment = next
    segmentLimit = plan.splitFrames
    document.files.append(next.files)
    if let reason = next.lockFault { noteLock(reason) }
    setBroadcast()
    watch.begin()
  }

  private func closeSegment(isLast: Bool = true) {
    faults += segment.close(
      markers: document.markers ?? [], title: document.title ?? "", memory: memory, isLast: isLast)
    memory = []
    if segment.lacksCues {
      note(.cues, "not every WAV file has the markers and the title: they are in this sidecar alone")
    }
    unfinished.formUnion(segment.unfinished)
  }

  private func note(_ kind: NoteKind, _ sentence: String) {
    if notedOnce.insert(kind).inserted { document.notes.append(sentence) }
  }

  private func noteLock(_ reason: String) {
    note(
      .lock,
      "do not run `pinna takes repair` during this take: its files cannot be locked (\(reason))"
    )
  }

  private func noteSegment() {
    document.files[document.files.count - 1] = segment.files
    document.frames = frames
  }

  /// The sidecar including the counts of the present segment.
  private var current: Sidecar {
    var current = document
    current.clippedSamples += segment.clippedSamples
    current.silencedSamples += segment.silencedSamples
    return current
  }

  func add(_ news: TakeNews) {
    document.add(news.events)
    document.add(news.fallbacks)
    document.list(news.turns)
    document.notes += news.notes
    document.add(news.markers)
    if let title = news.title { document.title = title.isEmpty ? nil : title }
  }

  /// Lists who was heard up to now. All gaps before that are in the files.
  func list(_ talkers: [Sidecar.Talker]) { document.list(talkers) }

  /// Flushes files and sidecar to disk. The frames so far then survive a kill and a power failure.
  func flush() {
    guard fault == nil else { return }
    explainGaps(all: false)
    watch.begin()
    do throws(AudioFileError) {
      try segment.flush()
    } catch {
      return fail(error.description)
    }
    watch.begin()
    noteSegment()
    // A failure is retried in a second. At the end of the take it is reported.
    try? sidecar.write(current)
  }

  /// Checks whether the folder or a file that is being written was removed.
  func checkForRemoval() {
    if folder.isRemoved {
      loss = "the takes folder \(folder.path) was removed during the take: the sound is lost"
    } else if let path = segment.removedPath {
      loss = "\(path).part was removed while it was written: the sound is lost"
    }
  }

  /// Stops writing after an error, and finishes the files with the same number of frames.
  private func fail(_ reason: String) {
    fault = reason
    segment.truncateToCommonLength()
    closeSegment()
  }

  /// Finishes all files: closes, converts, and writes the sidecar.
  /// - Parameters:
  ///   - length: number of frames that the take should have.
  ///   - isTime: whether there is still time to convert; called repeatedly.
  func close(length: Int, isTime: () -> Bool) -> Sidecar {
    let length = min(length, plan.lengthLimit.map { document.preRollFrames + $0 } ?? length)
    watch.begin()
    explainGaps(all: true)
    closeSegment()
    noteSegment()
    document = current
    let isRemoved = folder.isRemoved
    if isRemoved { checkForRemoval() }
    document.missing = isRemoved ? [loss].compactMap { $0 } : missing(length)
    if folder.isMoved, !isRemoved {
      document.notes.append("the takes folder was moved during the take; it is \(folder.path) now")
    }
    document.state = document.missing.isEmpty ? .complete : .incomplete
    watch.begin()
    // Conversion may take minutes. After a crash in it, the sidecar is complete.
    try? sidecar.write(document)
    watch.begin()
    convert(while: isTime)
    for n in document.files.indices {
      guard let name = document.files[n].microphones, !unfinished.contains(name) else { continue }
      watch.begin()
      document.files[n].microphonesDigest = SoundDigest(of: folder.path(of: name))?.text
    }
    watch.begin()
    do throws(TakeError) {
      // A repair starts from a sidecar that is still `.part`.
      try sidecar.finish(document, named: unfinished.isEmpty)
    } catch {
      document.state = .incomplete
      if !isRemoved { document.missing.append("\(error): \(AudioFileWriter.remedy)") }
    }
    return document
  }

  /// The present path of the first file.
  var finalPath: String {
    let name = document.files[0].first
    return folder.path(of: unfinished.contains(name) ? name + ".part" : name)
  }

  private func convert(while isTime: () -> Bool) {
    guard let compression = plan.options.format.compression else { return }
    let ambisonics = Set(
      (document.feeds ?? []).filter { $0.order != nil }.map(\.name).flatMap { feed in
        document.files.compactMap { $0.feeds?[feed] }
      })
    func converted(_ name: String, _ files: Sidecar.Files) -> String {
      guard !unfinished.contains(name), folder.contains(name) else { return name }
      do throws(AudioFileError) {
        return try compression.replace(
          wav: name, in: folder, labels: document.labels(of: name, files),
          isAmbisonic: ambisonics.contains(name), areMicrophones: name == files.microphones
        ) {
          watch.begin()
          return isTime()
        }
      } catch {
        document.notes.append("\(name) stays WAV: \(error)")
        return name
      }
    }
    for n in document.files.indices {
      // Apart from the document, to which the conversion adds notes.
      var files = document.files[n]
      let named = files
      files.rename { converted($0, named) }
      document.files[n] = files
    }
  }

  /// What is missing from the take, one sentence each.
  private func missing(_ length: Int) -> [String] {
    var sentences: [String] = []
    let lost = length - frames
    if let fault {
      sentences.append(lost > 0 ? "its last \(lost) frames could not be written: \(fault)" : fault)
    } else if lost > 0 {
      sentences.append("its last \(lost) frames are missing")
    }
    sentences += faults
    for cause in [TakeGap.Cause.disk, .stall, .period, .graph, .freewheel] {
      guard let (first, count, frames) = document.total(of: cause) else { continue }
      let places = count == 1 ? "at frame \(first)" : "in \(count) places from frame \(first)"
      sentences.append("\(frames) frames \(places) are silence: \(cause.reason)")
    }
    return sentences
  }

  /// Looks for the causes of gaps: of all, or of those that ended long enough ago for the server to have told them.
  private func explainGaps(all: Bool) {
    guard let explain = plan.explain, !unexplained.isEmpty else { return }
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let limit = all ? Int.max : now.tv_sec * 1_000_000 + now.tv_nsec / 1000 - 150_000
    for (frame, time) in unexplained where time.upperBound < limit {
      if let cause = explain(time) { document.explain(gapAt: frame, by: cause) }
    }
    unexplained.removeAll { $0.time.upperBound < limit }
  }

  /// Removes all files of a take that never began.
  func discard() {
    segment.discard()
    sidecar.discard()
  }
}

extension TakeGap.Cause {
  /// Why frames of a take are silence.
  fileprivate var reason: String {
    switch self {
    case .disk: "the disk could not keep up"
    case .stall:
      "the JACK server went on without Pinna, because the machine was too busy or Pinna was stopped (if it was busy, use a "
        + "longer period or realtime scheduling)"
    case .period:
      "the period or the sample rate changed, and the server went on without Pinna meanwhile; where PipeWire's clock fell "
        + "back then, how many more frames are missing is unknown"
    case .graph:
      "another program joined, left or was connected, and the server went on without Pinna meanwhile"
    case .freewheel:
      "freewheel began or ended, in which PipeWire waits for no client; how many more frames are missing there is unknown"
    case .server: "the server stood still"
    }
  }
}
