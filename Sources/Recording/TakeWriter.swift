import AudioFiles
import Foundation
import Realtime
import Synchronization
import Threads

/// One take on its way to disk: the disk thread makes its name, files and ring, which the callback fills, and empties
/// that into the files.
///
/// Threads: the controller calls what is public, and nothing of that ever waits, however long the disk does: no lock is
/// held across an operation on the disk. The ring's producer is the callback. The files are touched by the disk thread
/// alone.
public final class TakeWriter: Sendable {
  public struct Result: Sendable, Hashable {
    /// Of the outputs' file.
    public let path: String
    public let sidecar: Sidecar

    package init(path: String, sidecar: Sidecar) {
      self.path = path
      self.sidecar = sidecar
    }

    /// Length of the take, gaps included.
    public var frames: Int { sidecar.frames }
    /// What the take lacks; nil where it is whole.
    public var fault: String? { sidecar.missing.isEmpty ? nil : sidecar.missing.joined(separator: "; ") }

    /// What became of the take.
    public var sentence: String {
      fault.map { "the take \(path) is incomplete: \($0)" } ?? "take \(path): \(frames) frames"
    }
  }

  /// Where a take stands.
  public enum Phase: Sendable {
    /// The disk thread makes name, folder, files and ring.
    case opening
    /// Ready for the callback.
    case open(TakeRing)
    /// It could not be opened: no file is left.
    case failed(TakeError)
    /// Everything that could be written is, and has its name; or it was discarded, and no file is left.
    case finished(Result)
  }

  public let plan: TakePlan
  private let state = Mutex<State>(State())
  private let trouble = Mutex<String?>(nil)
  private let events = Mutex<[Sidecar.Event]>([])
  private let written = Atomic<Int>(0)
  private let room = Atomic<Int>(.max)
  private let abandoned = Atomic<Bool>(false)
  private let unwanted = Atomic<Bool>(false)
  private let watch = DiskWatch()

  private struct State {
    var phase = Phase.opening
    var path: String?
    var ring: TakeRing?
  }

  /// Starts the disk thread, and returns.
  /// - Parameter folder: a path from the root, without symbolic links; nil for `TakeFolder.standard`.
  public init(folder: String?, plan: TakePlan) {
    self.plan = plan
    do { try BackgroundThread.start("pinna disk") { [self] in work(folder) } } catch {
      enter(.failed(TakeError("the take cannot begin: \(error)")))
    }
  }

  public var phase: Phase { state.withLock { $0.phase } }

  /// Of the outputs' file; nil while the take is being opened.
  public var path: String? { state.withLock { $0.path } }

  /// What the callback fills; nil while the take is being opened.
  public var ring: TakeRing? { state.withLock { $0.ring } }

  /// Frames on disk so far.
  public var frames: Int { written.load(ordering: .relaxed) }

  /// Frames that wait in the ring for the disk.
  public var waitingFrames: Int { ring?.waitingFrames ?? 0 }

  /// Frames that are silence, because there was no room for them in the ring or because Pinna stood still.
  public var lostFrames: Int { ring?.lostFrames ?? 0 }

  /// Why nothing reaches the disk any more; nil while all is well.
  public var fault: String? { trouble.withLock { $0 } }

  /// How long the disk has not answered; zero while nothing is asked of it.
  public var unansweredFor: Duration { watch.unansweredFor }

  /// How long the disk has room for, at the take's rate; nil until it has been looked at.
  public var secondsLeft: Int? {
    let seconds = room.load(ordering: .relaxed)
    return seconds == .max ? nil : seconds
  }

  /// Something happened just now.
  public func note(_ what: String) {
    let frame = frames
    // The disk may stand still for hours.
    events.withLock { if $0.count < Sidecar.mostListed { $0.append(.init(frame: frame, what: what)) } }
  }

  /// The callback is gone: finish with what is there, and convert nothing more.
  public func abandon() { abandoned.store(true, ordering: .releasing) }

  /// The take never began: leave no file.
  public func discard() {
    unwanted.store(true, ordering: .releasing)
    abandon()
  }

  private func enter(_ phase: Phase) { state.withLock { $0.phase = phase } }

  // MARK: Disk thread

  private func work(_ path: String?) {
    watch.ask()
    defer { watch.rest() }
    // Looks for the standard folder on disk.
    let folder = TakeFolder(path: path)
    watch.ask()
    let files: TakeFiles
    do throws(TakeError) {
      let place = try folder.open()
      watch.ask()
      let (stem, sidecar) = try folder.claim(in: place, preset: plan.setup.preset)
      watch.ask()
      files = try TakeFiles(folder: place, stem: stem, sidecar: sidecar, plan: plan, watch: watch)
    } catch {
      return enter(.failed(error))
    }
    let ring: TakeRing
    do throws(OutOfMemory) {
      ring = try TakeRing(
        outputs: plan.outputs, microphones: plan.microphones, reservingFrames: plan.ringFrames)
    } catch {
      files.discard()
      return enter(.failed(TakeError("the take cannot begin: \(error)")))
    }
    let path = files.path
    lookForRoom(files)
    watch.rest()
    state.withLock { $0 = State(phase: .open(ring), path: path, ring: ring) }
    enter(.finished(record(ring, into: files)))
  }

  private func record(_ ring: TakeRing, into files: TakeFiles) -> Result {
    var position = 0
    var before: Int?
    var secured = ContinuousClock.now
    var last = false
    func tick() {
      written.store(files.frames, ordering: .relaxed)
      // A second at most, the writing itself included.
      if ContinuousClock.now - secured > .milliseconds(800) {
        files.note(
          events.withLock { arrived in
            defer { arrived = [] }
            return arrived
          })
        files.secure()
        watch.ask()
        lookForRoom(files)
        secured = .now
      }
      if let fault = files.fault { trouble.withLock { $0 = fault } }
    }
    while !last {
      // Asked before draining: what was written before it is then there.
      last = ring.isFinished || abandoned.load(ordering: .acquiring)
      if before == nil, let start = ring.start {
        before = start.preRoll
        begin(files, start)
      }
      ring.drain(
        position: &position, isLast: last,
        frames: {
          files.write($0)
          tick()
        },
        gap: {
          files.write($0, at: $0.start + (before ?? 0))
          tick()
        })
      tick()
      watch.rest()
      if !last { usleep(20_000) }
    }
    watch.ask()
    if unwanted.load(ordering: .acquiring) {
      let path = files.path
      files.discard()
      return Result(path: path, sidecar: files.document)
    }
    files.note(events.withLock { $0 })
    let document = files.close(
      length: position + (before ?? 0), isTime: { !abandoned.load(ordering: .acquiring) })
    return Result(path: files.finalPath, sidecar: document)
  }

  private func begin(_ files: TakeFiles, _ start: (preRoll: Int, microseconds: Int)) {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let age = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9 - Double(start.microseconds) / 1e6
    files.begin(
      Date(timeIntervalSinceNow: -age - Double(start.preRoll) / Double(plan.sampleRate)),
      preRoll: start.preRoll)
    var left = start.preRoll
    while left > 0 {
      let count = min(left, 8192)
      let frames = plan.preRoll.read(
        age: left - count, frames: count, outputs: plan.outputs, microphones: plan.microphones)
      frames.withUnsafeBufferPointer { files.write($0) }
      left -= count
    }
    // Where there was none, the take before may still read it.
    if start.preRoll > 0 { plan.preRoll.release() }
  }

  private func lookForRoom(_ files: TakeFiles) {
    guard let bytes = files.folder.freeBytes else { return }
    room.store(Int(bytes / Double(plan.bytesPerFrame * plan.sampleRate)), ordering: .relaxed)
  }
}
