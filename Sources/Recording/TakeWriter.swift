import AudioFiles
import FoundationEssentials
import Glibc
import Realtime
import Synchronization
import Threads

/// Records a take: a disk thread claims the name, opens the files, creates the ring buffer that the callback fills, and
/// drains it into the files.
///
/// Threads:
/// - The control thread makes all public calls. None of them waits, because no lock is held during a disk operation.
/// - The callback is the ring's producer.
/// - Only the disk thread uses the files.
public final class TakeWriter: Sendable {
  public struct Result: Sendable, Hashable {
    /// Path of the first file: main's, if main is recorded.
    public let path: String
    public let sidecar: Sidecar

    package init(path: String, sidecar: Sidecar) {
      self.path = path
      self.sidecar = sidecar
    }

    /// Length of the take, including gaps.
    public var frames: Int { sidecar.frames }
    /// What is missing from the take; nil if it is complete.
    public var fault: String? { sidecar.missing.isEmpty ? nil : sidecar.missing.joined(separator: "; ") }

    /// The name of its sidecar.
    public var sidecarName: String {
      let name = path.split(separator: "/").last.map(String.init) ?? path
      // Without main, the first file has the name of its feed.
      let ending = sidecar.channels > 0 ? "" : sidecar.feeds?.map(\.name).min().map { "-\($0)" } ?? ""
      return name.replacing(/\.\w+(\.part)?$/, with: "").dropLast(ending.count) + ".json"
    }

    /// The result in one sentence.
    public var sentence: String {
      fault.map { "the take \(path) is incomplete: \($0)" } ?? "take \(path): \(frames) frames"
    }
  }

  /// The state of a take.
  public enum Phase: Sendable {
    /// The disk thread is creating folder, name, files and ring.
    case opening
    /// Ready for the callback.
    case open(TakeRing)
    /// The take could not be opened. No file is left.
    case failed(TakeError)
    /// All files are finished, or the take was discarded and no file is left.
    case finished(Result)
  }

  public let plan: TakePlan
  private let state = Mutex<State>(State())
  private let faultText = Mutex<String?>(nil)
  private let lossText = Mutex<String?>(nil)
  private let pendingNews = Mutex<TakeNews>(TakeNews())
  private let pendingTalkers = Mutex<[Sidecar.Talker]>([])
  private let names = Mutex<(title: String, markers: Int)>(("", 0))
  private let framesOnDisk = Atomic<Int>(0)
  private let secondsOfSpace = Atomic<Int>(.max)
  private let abandoned = Atomic<Bool>(false)
  private let discarded = Atomic<Bool>(false)
  private let watch = DiskWatch()

  private struct State {
    var phase = Phase.opening
    var path: String?
    var ring: TakeRing?
  }

  /// Starts the disk thread and returns immediately.
  /// - Parameter folder: an absolute path without symbolic links; nil for `TakeFolder.standard`.
  public init(folder: String?, plan: TakePlan) {
    self.plan = plan
    do { try BackgroundThread.start("pinna disk") { [self] in work(folder) } } catch {
      enter(.failed(TakeError("the take cannot begin: \(error)")))
    }
  }

  public var phase: Phase { state.withLock { $0.phase } }

  /// Path of the first file; nil while the take is being opened.
  public var path: String? { state.withLock { $0.path } }

  /// The ring that the callback fills; nil while the take is being opened.
  public var ring: TakeRing? { state.withLock { $0.ring } }

  /// Frames on disk so far.
  public var frames: Int { framesOnDisk.load(ordering: .relaxed) }

  /// Whether the callback has written all frames of a take that ends by itself.
  public var isOver: Bool { plan.lengthLimit.map { ring?.frames ?? 0 >= $0 } ?? false }

  /// Frames in the ring that are not on disk yet.
  public var waitingFrames: Int { ring?.waitingFrames ?? 0 }

  /// Frames lost to overruns of the ring or to stalls of Pinna, which silence replaces.
  public var lostFrames: Int { ring?.lostFrames ?? 0 }

  /// Why writing stopped; nil while all is well.
  public var fault: String? { faultText.withLock { $0 } }

  /// Which file or folder was removed during the take, so that its audio is lost; nil if none.
  public var loss: String? { lossText.withLock { $0 } }

  /// How long the present disk operation has taken; zero if there is none.
  public var unansweredFor: Duration { watch.unansweredFor }

  /// Recording time until the disk is full; nil until it has been measured.
  public var secondsLeft: Int? {
    let seconds = secondsOfSpace.load(ordering: .relaxed)
    return seconds == .max ? nil : seconds
  }

  /// Adds an event at the present frame to the sidecar.
  public func note(_ what: String) {
    let frame = frames
    // Limited, because the disk may stall for hours.
    pendingNews.withLock {
      if $0.events.count < Sidecar.listLimit { $0.events.append(.init(frame: frame, what: what)) }
    }
  }

  /// Frames of pre-roll before the first frame that the callback wrote; 0 before it has begun.
  public var preRollFrames: Int { ring?.start?.preRoll ?? 0 }

  /// Lists in the sidecar that from `frame` of the take on, pre-roll included, a feed's filters do without `missing`.
  /// - Parameter feed: its name.
  public func addFallback(frame: Int, without missing: [String], feed: String) {
    pendingNews.withLock {
      guard $0.fallbacks.count < Sidecar.listLimit else { return }
      $0.fallbacks.append(.init(frame: frame, without: missing, feed: feed))
    }
  }

  /// Lists in the sidecar what a feed plays that follows a pose.
  public func addTurn(_ turn: Sidecar.Turn) {
    // Limited, because the disk may stall for hours.
    pendingNews.withLock { if $0.turns.count < Sidecar.turnLimit / 8 { $0.turns.append(turn) } }
  }

  /// Lists in the sidecar who speaks where.
  public func add(_ talker: Sidecar.Talker) {
    pendingTalkers.withLock { if $0.count < Sidecar.turnLimit / 8 { $0.append(talker) } }
  }

  /// Adds a note to the sidecar: a deviation from the request that loses nothing.
  public func addNote(_ sentence: String) { pendingNews.withLock { $0.notes.append(sentence) } }

  /// Number of markers so far.
  public var markers: Int { names.withLock { $0.markers } }

  /// Marks the present place, in the sidecar and as a cue of the WAV files.
  public func mark(_ label: String) -> Sidecar.Marker {
    let marker = Sidecar.Marker(frame: preRollFrames + (ring?.frames ?? 0), label: label)
    names.withLock { $0.markers += 1 }
    pendingNews.withLock { $0.markers.append(marker) }
    return marker
  }

  /// The title in the sidecar; empty for none.
  public var title: String {
    get { names.withLock { $0.title } }
    set {
      names.withLock { $0.title = newValue }
      pendingNews.withLock { $0.title = newValue }
    }
  }

  /// Ends the take without the callback, which is gone: writes what is in the ring, and skips the conversion.
  public func abandon() { abandoned.store(true, ordering: .releasing) }

  /// Ends a take that never began, and removes its files.
  public func discard() {
    discarded.store(true, ordering: .releasing)
    abandon()
  }

  private func enter(_ phase: Phase) { state.withLock { $0.phase = phase } }

  // MARK: - Disk thread

  private func work(_ path: String?) {
    watch.begin()
    defer { watch.end() }
    // Waits for the disk if the standard folder must be resolved.
    let folder = TakeFolder(path: path)
    watch.begin()
    var files: TakeFiles!
    do throws(TakeError) {
      let place = try folder.open()
      watch.begin()
      let (stem, sidecar) = try folder.claim(in: place, preset: plan.setup.preset)
      watch.begin()
      files = try TakeFiles(folder: place, stem: stem, sidecar: sidecar, plan: plan, watch: watch)
    } catch {
      return enter(.failed(error))
    }
    let ring: TakeRing
    do throws(OutOfMemory) {
      ring = try plan.makeRing()
    } catch {
      files.discard()
      return enter(.failed(TakeError("the take cannot begin: \(error)")))
    }
    let path = files.path
    measureFreeSpace(files)
    watch.end()
    state.withLock { $0 = State(phase: .open(ring), path: path, ring: ring) }
    let result = record(ring, into: files)
    // Releases the locks first: a locked file is listed as being recorded.
    files = nil
    enter(.finished(result))
  }

  private func record(_ ring: TakeRing, into files: TakeFiles) -> Result {
    var position = 0
    var preRollFrames: Int?
    var lastFlush = ContinuousClock.now
    var last = false
    func tick() {
      framesOnDisk.store(files.frames, ordering: .relaxed)
      // About once a second, including the time to write.
      if ContinuousClock.now - lastFlush > .milliseconds(800) {
        files.flush()
        watch.begin()
        files.checkForRemoval()
        if let loss = files.loss { lossText.withLock { $0 = loss } }
        measureFreeSpace(files)
        lastFlush = .now
      }
      if let fault = files.fault { faultText.withLock { $0 = fault } }
    }
    var heard: [Sidecar.Talker] = []
    while !last {
      // Read before draining, so that the drain reaches the last frame.
      last = ring.isFinished || abandoned.load(ordering: .acquiring)
      if preRollFrames == nil, let start = ring.start {
        preRollFrames = start.preRoll
        begin(files, start, ring)
      }
      // The ring already holds every gap before these talkers. The drain below writes it, unless it is still open.
      heard += drainPendingTalkers()
      let isListed = !ring.hasOpenGap
      ring.drain(
        position: &position, isLast: last,
        frames: {
          // First, because what is written may end a file, and its cues are written then.
          addPendingNews(files)
          files.write($0)
          tick()
        },
        gap: {
          addPendingNews(files)
          files.write($0, at: $0.start + (preRollFrames ?? 0))
          tick()
        })
      if isListed {
        files.list(heard)
        heard = []
      }
      tick()
      watch.end()
      if !last { usleep(20_000) }
    }
    watch.begin()
    // A take that the callback never began leaves no file, even if the control thread has not discarded it yet.
    if discarded.load(ordering: .acquiring) || ring.start == nil {
      let path = files.path
      files.discard()
      return Result(path: path, sidecar: files.document)
    }
    // The callback's word: by the time the control thread hears of it, this thread may have closed the files.
    if ring.hasEndedWithTransport { note("the take ended because the transport stopped") }
    addPendingNews(files)
    files.list(heard + drainPendingTalkers())
    let document = files.close(
      length: position + (preRollFrames ?? 0), isTime: { !abandoned.load(ordering: .acquiring) })
    return Result(path: files.finalPath, sidecar: document)
  }

  private func addPendingNews(_ files: TakeFiles) {
    let arrived = pendingNews.withLock { pendingNews in
      defer { pendingNews = TakeNews() }
      return pendingNews
    }
    files.add(arrived)
  }

  private func drainPendingTalkers() -> [Sidecar.Talker] {
    pendingTalkers.withLock { talkers in
      defer { talkers = [] }
      return talkers
    }
  }

  private func begin(_ files: TakeFiles, _ start: TakeRing.Start, _ ring: TakeRing) {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let age = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9 - Double(start.microseconds) / 1e6
    files.begin(
      Date(timeIntervalSinceNow: -age - Double(start.preRoll) / Double(plan.sampleRate)),
      preRoll: start.preRoll, transportFrame: start.transportFrame, memory: ring.memory)
    var left = start.preRoll
    while left > 0 {
      let count = min(left, 8192)
      plan.readPreRoll(age: left - count, frames: count).withUnsafeBufferPointer { files.write($0) }
      left -= count
    }
    // Without pre-roll the buffers are not held by this take; the previous take may still be reading them.
    if start.preRoll > 0 { plan.releasePreRoll() }
  }

  private func measureFreeSpace(_ files: TakeFiles) {
    guard let bytes = files.folder.freeBytes else { return }
    secondsOfSpace.store(Int(bytes / Double(plan.bytesPerFrame * plan.sampleRate)), ordering: .relaxed)
  }
}

/// What the next version of the sidecar has to say.
///
/// Thread: any; a value.
struct TakeNews {
  var events: [Sidecar.Event] = []
  var notes: [String] = []
  var fallbacks: [Sidecar.Fallback] = []
  var turns: [Sidecar.Turn] = []
  var markers: [Sidecar.Marker] = []
  /// Nil if it stays as it is; empty for none.
  var title: String?
}
