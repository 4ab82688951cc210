import AudioFiles
import Foundation
import Realtime
import Synchronization
import Threads

/// A take on its way from disk into the outputs: the disk thread opens it and makes the ring, which the callback empties,
/// and fills that ahead of time. A mono take comes out alike on both sides.
///
/// Threads: the controller calls what is public, and nothing of that ever waits for the disk.
public final class TakePlayer: Sendable {
  public enum Phase: Sendable {
    /// The disk thread opens the file, and reads the first frames.
    case opening
    /// Half of the ring is full, or all of the take is in it.
    case open(PlaybackRing)
    /// It cannot be played.
    case failed(TakeError)
  }

  public let path: String
  /// Of the graph, which the take must have.
  public let sampleRate: Int
  private let state = Mutex<State>(State())
  private let abandoned = Atomic<Bool>(false)
  private let watch = DiskWatch()

  private struct State {
    var phase = Phase.opening
    var frames = 0
    var channels = 0
  }

  /// Starts the disk thread, and returns.
  /// - Parameter sampleRate: of the graph, which the take must have.
  public init(path: String, sampleRate: Int) {
    self.path = path
    self.sampleRate = sampleRate
    do { try BackgroundThread.start("pinna playback") { [self] in work() } } catch {
      enter(.failed(TakeError("\(path) cannot be played: \(error)")))
    }
  }

  public var phase: Phase { state.withLock { $0.phase } }

  /// 0 while the take is being opened.
  public var frames: Int { state.withLock { $0.frames } }

  /// 0 while the take is being opened.
  public var channels: Int { state.withLock { $0.channels } }

  /// What the callback empties; nil while the take is being opened.
  public var ring: PlaybackRing? {
    guard case .open(let ring) = phase else { return nil }
    return ring
  }

  /// How long the disk has not answered; zero while nothing is asked of it.
  public var unansweredFor: Duration { watch.unansweredFor }

  /// Nobody plays it any more.
  public func abandon() { abandoned.store(true, ordering: .releasing) }

  private func enter(_ phase: Phase) { state.withLock { $0.phase = phase } }

  // MARK: Disk thread

  private func work() {
    watch.ask()
    defer { watch.rest() }
    do throws(TakeError) {
      let file = try open()
      let ring: PlaybackRing
      do throws(OutOfMemory) {
        // As far ahead as a disk may stand still, and no further than a short take needs.
        ring = try PlaybackRing(reservingFrames: min(4 * sampleRate, max(16384, file.frames)))
      } catch {
        throw TakeError("\(path) cannot be played: \(error)")
      }
      state.withLock {
        $0.frames = file.frames
        $0.channels = file.channels
      }
      fill(ring, from: file)
    } catch {
      enter(.failed(error))
    }
  }

  private func open() throws(TakeError) -> AudioFileReader {
    let file: AudioFileReader
    do { file = try AudioFileReader(path: path) } catch { throw TakeError(error.description) }
    guard file.channels <= 2 else {
      throw TakeError(
        "\(path) has \(file.channels) channels: only takes of one or two can be played; hear its microphones with: pinna render"
      )
    }
    guard file.sampleRate == sampleRate else {
      throw TakeError(
        "\(path) has \(file.sampleRate) Hz and the JACK server \(sampleRate) Hz; convert it, or start the server at its rate"
      )
    }
    guard file.frames > 0 else { throw TakeError("\(path) holds no sound; play another one") }
    return file
  }

  private func fill(_ ring: PlaybackRing, from file: AudioFileReader) {
    var isOpen = false
    while !abandoned.load(ordering: .acquiring) {
      if !isOpen, ring.freeFrames <= ring.capacityFrames / 2 {
        isOpen = true
        enter(.open(ring))
      }
      guard ring.freeFrames >= 4096 else {
        watch.rest()
        usleep(10_000)
        continue
      }
      watch.ask()
      let block = file.read(frames: 4096)
      if block.isEmpty { break }
      let left = stride(from: 0, to: block.count, by: file.channels).map { block[$0] }
      let right =
        file.channels == 1 ? left : stride(from: 1, to: block.count, by: file.channels).map { block[$0] }
      ring.write(left: left, right: right)
    }
    ring.finish()
    if !isOpen { enter(.open(ring)) }
  }
}
