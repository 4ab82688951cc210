import AudioFiles
import Foundation
import Realtime
import Synchronization

/// One take on its way to disk: the ring that the callback fills, and the disk thread that empties it.
///
/// Threads: `init`, `finish` and the readers are for the controller; the ring's producer is the callback; the
/// file is touched by the disk thread alone.
public final class TakeWriter: Sendable {
  public struct Result: Sendable, Hashable {
    public let path: String
    /// Length of the take, gaps included.
    public let frames: Int
    /// Frames that are silence because the disk could not keep up.
    public let lostFrames: Int
    /// Why the take is incomplete; nil where it is whole.
    public let fault: String?

    /// What became of the take.
    public var sentence: String {
      fault.map { "the take \(path) is incomplete: \($0)" } ?? "take \(path): \(frames) frames"
    }
  }

  public let path: String
  public let channels: Int
  public let sampleRate: Int
  public let ring: TakeRing
  private let progress = Mutex<Result?>(nil)
  private let trouble = Mutex<String?>(nil)
  private let written = Atomic<Int>(0)
  private let done = DispatchSemaphore(value: 0)
  private let abandoned = Atomic<Bool>(false)
  private let unwanted = Atomic<Bool>(false)

  /// Opens the file and starts the disk thread, which waits for the ring. Errors come now, not during the take.
  public init(folder: TakeFolder, preset: String, channels: Int, sampleRate: Int) throws(TakeError) {
    let path = try folder.newTake(preset: preset)
    let file: AudioFileWriter
    do {
      file = try AudioFileWriter(
        path: path, format: .floatRF64, channels: channels, sampleRate: sampleRate, replacing: false)
    } catch {
      throw TakeError(error.description)
    }
    self.path = path
    self.channels = channels
    self.sampleRate = sampleRate
    ring = TakeRing(channels: channels, capacityFrames: Self.ringFrames(channels, sampleRate))
    let disk = DiskJob(file: file)
    let thread = Thread { [self] in
      self.run(disk)
      self.done.signal()
    }
    thread.name = "pinna disk"
    thread.start()
  }

  /// Eight seconds, or less where that passes 256 MB.
  static func ringFrames(_ channels: Int, _ sampleRate: Int) -> Int {
    min(8 * sampleRate, 256_000_000 / (4 * channels))
  }

  /// Frames on disk so far.
  public var frames: Int { written.load(ordering: .relaxed) }

  /// Why nothing reaches the disk any more; nil while all is well.
  public var fault: String? { trouble.withLock { $0 } }

  /// The callback is gone: finish with what is there.
  public func abandon() { abandoned.store(true, ordering: .releasing) }

  /// The take never began: leave no file.
  public func discard() {
    unwanted.store(true, ordering: .releasing)
    abandon()
  }

  /// Waits until everything is on disk and the file has its name.
  public func finish() -> Result {
    done.wait()
    done.signal()
    return progress.withLock { $0! }
  }

  /// True once `finish` would not wait.
  public var isFinished: Bool { progress.withLock { $0 != nil } }

  private func run(_ disk: DiskJob) {
    var position = 0
    var secured = ContinuousClock.now
    var last = false
    func tick() {
      written.store(disk.framesWritten, ordering: .relaxed)
      if ContinuousClock.now - secured > .seconds(1) {
        disk.secure()
        secured = .now
      }
      if let fault = disk.fault { trouble.withLock { $0 = fault } }
    }
    while !last {
      // Asked before draining: what was written before it is then there.
      last = ring.isFinished || abandoned.load(ordering: .acquiring)
      ring.drain(
        position: &position,
        frames: {
          disk.write($0)
          tick()
        },
        gap: {
          disk.write($0)
          tick()
        })
      tick()
      if !last { usleep(20_000) }
    }
    if unwanted.load(ordering: .acquiring) {
      disk.discard()
    } else {
      disk.close()
    }
    let fault = disk.fault
    let lost = ring.lostFrames
    let gapFault = lost > 0 ? "\(lost) frames are silence: the disk could not keep up" : nil
    progress.withLock {
      $0 = Result(path: path, frames: position, lostFrames: lost, fault: fault ?? gapFault)
    }
  }
}

/// The file of one take, on the disk thread. After the first failed write it writes no more.
private final class DiskJob: @unchecked Sendable {
  // Unchecked: made by the controller, then used by the disk thread alone.
  private let file: AudioFileWriter
  private(set) var fault: String?
  var framesWritten: Int { file.framesWritten }

  init(file: AudioFileWriter) { self.file = file }

  func write(_ frames: UnsafeBufferPointer<Float>) {
    guard fault == nil else { return }
    do { try file.write(frames) } catch { fault = error.description }
  }

  func write(_ gap: TakeGap) {
    let silence = [Float](repeating: 0, count: 4096 * file.channels)
    var left = gap.frames
    while left > 0 {
      let count = min(left, 4096)
      silence.withUnsafeBufferPointer { write(UnsafeBufferPointer(rebasing: $0[..<(count * file.channels)])) }
      left -= count
    }
  }

  func secure() {
    guard fault == nil else { return }
    do { try file.secure() } catch { fault = error.description }
  }

  func close() {
    do { try file.close() } catch { fault = fault ?? error.description }
  }

  func discard() { file.abandon() }
}
