import AudioFiles
import Foundation
import Realtime
import Synchronization

/// One take on its way to disk: the ring that the callback fills, and the disk thread that empties it.
///
/// Threads: `init`, `finish` and the readers are for the controller; the ring's producer is the callback; the
/// files are touched by the disk thread alone.
public final class TakeWriter: Sendable {
  public struct Result: Sendable, Hashable {
    /// Of the outputs' file.
    public let path: String
    public let sidecar: Sidecar
    /// Length of the take, gaps included.
    public var frames: Int { sidecar.frames }
    /// What the take lacks; nil where it is whole.
    public var fault: String? { sidecar.missing.isEmpty ? nil : sidecar.missing.joined(separator: "; ") }

    /// What became of the take.
    public var sentence: String {
      fault.map { "the take \(path) is incomplete: \($0)" } ?? "take \(path): \(frames) frames"
    }
  }

  public let path: String
  public let plan: TakePlan
  public let ring: TakeRing
  private let progress = Mutex<Result?>(nil)
  private let trouble = Mutex<String?>(nil)
  private let events = Mutex<[Sidecar.Event]>([])
  private let written = Atomic<Int>(0)
  private let room = Atomic<Int>(.max)
  private let done = DispatchSemaphore(value: 0)
  private let abandoned = Atomic<Bool>(false)
  private let unwanted = Atomic<Bool>(false)

  /// Opens the files and starts the disk thread, which waits for the ring. Errors come now, not during the take.
  public init(folder: TakeFolder, plan: TakePlan) throws(TakeError) {
    let files = try TakeFiles(stem: folder.newStem(preset: plan.setup.preset), plan: plan)
    path = files.stem + ".wav"
    self.plan = plan
    ring = TakeRing(outputs: plan.outputs, microphones: plan.microphones, capacityFrames: plan.ringFrames)
    let job = DiskJob(files: files)
    let thread = Thread { [self] in
      self.run(job.files)
      self.done.signal()
    }
    thread.name = "pinna disk"
    thread.start()
  }

  /// Frames on disk so far.
  public var frames: Int { written.load(ordering: .relaxed) }

  /// Why nothing reaches the disk any more; nil while all is well.
  public var fault: String? { trouble.withLock { $0 } }

  /// How long the disk has room for, at the take's rate; nil until it has been looked at.
  public var secondsLeft: Int? {
    let seconds = room.load(ordering: .relaxed)
    return seconds == .max ? nil : seconds
  }

  /// Something happened just now.
  public func note(_ what: String) {
    let frame = frames
    events.withLock { $0.append(.init(frame: frame, what: what)) }
  }

  /// The callback is gone: finish with what is there, and convert nothing more.
  public func abandon() { abandoned.store(true, ordering: .releasing) }

  /// The take never began: leave no file.
  public func discard() {
    unwanted.store(true, ordering: .releasing)
    abandon()
  }

  /// Waits until everything is on disk and the files have their names.
  public func finish() -> Result {
    done.wait()
    done.signal()
    return progress.withLock { $0! }
  }

  /// True once `finish` would not wait.
  public var isFinished: Bool { progress.withLock { $0 != nil } }

  // MARK: Disk thread

  private func run(_ files: TakeFiles) {
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
        lookForRoom(files)
        secured = .now
      }
      if let fault = files.fault { trouble.withLock { $0 = fault } }
    }
    lookForRoom(files)
    while !last {
      // Asked before draining: what was written before it is then there.
      last = ring.isFinished || abandoned.load(ordering: .acquiring)
      if before == nil, let start = ring.start {
        before = start.preRoll
        begin(files, start)
      }
      ring.drain(
        position: &position,
        frames: {
          files.write($0)
          tick()
        },
        gap: {
          files.write($0, at: $0.start + (before ?? 0))
          tick()
        })
      tick()
      if !last { usleep(20_000) }
    }
    if unwanted.load(ordering: .acquiring) {
      files.discard()
      progress.withLock { $0 = Result(path: path, sidecar: files.document) }
    } else {
      files.note(events.withLock { $0 })
      let document = files.close(
        length: position + (before ?? 0), isTime: { !abandoned.load(ordering: .acquiring) })
      let folder = URL(filePath: path).deletingLastPathComponent().path
      progress.withLock { $0 = Result(path: "\(folder)/\(document.files[0].outputs)", sidecar: document) }
    }
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
    var information = statvfs()
    guard statvfs(URL(filePath: path).deletingLastPathComponent().path, &information) == 0 else { return }
    let bytes = Double(information.f_bavail) * Double(information.f_frsize)
    room.store(Int(bytes / Double(plan.bytesPerFrame * plan.sampleRate)), ordering: .relaxed)
  }
}

/// Carries the files to the disk thread.
private final class DiskJob: @unchecked Sendable {
  // Unchecked: made by the controller, then used by the disk thread alone.
  let files: TakeFiles
  init(files: TakeFiles) { self.files = files }
}
