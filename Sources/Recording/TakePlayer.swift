import AudioFiles
import Foundation
import Realtime
import Synchronization

/// A take on its way from disk into the outputs: the ring that the callback empties, and the disk thread that fills
/// it. A mono take comes out alike on both sides.
public final class TakePlayer: Sendable {
  public let path: String
  public let frames: Int
  public let channels: Int
  public let sampleRate: Int
  public let ring: PlaybackRing
  private let abandoned = Atomic<Bool>(false)

  /// Opens the file and starts the disk thread, which fills the ring ahead of time.
  /// - Parameter sampleRate: of the graph, which the take must have.
  public init(path: String, sampleRate: Int) throws(TakeError) {
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
    self.path = path
    self.sampleRate = sampleRate
    frames = file.frames
    channels = file.channels
    // As far ahead as a disk may stand still, and no further than a short take needs.
    ring = PlaybackRing(capacityFrames: min(4 * sampleRate, max(16384, file.frames)))
    let disk = DiskSource(file: file)
    let thread = Thread { [self] in run(disk) }
    thread.name = "pinna playback"
    thread.start()
    // The first frames are there before the callback asks for them, unless the disk stands still.
    let end = ContinuousClock.now + .seconds(1)
    while ring.freeFrames > ring.capacityFrames / 2, !disk.isAtEnd, ContinuousClock.now < end { usleep(1000) }
  }

  /// Nobody plays it any more.
  public func abandon() { abandoned.store(true, ordering: .releasing) }

  private func run(_ disk: DiskSource) {
    while !abandoned.load(ordering: .acquiring) {
      guard ring.freeFrames >= 4096 else {
        usleep(10_000)
        continue
      }
      let block = disk.read(frames: 4096)
      if block.isEmpty { break }
      let left = stride(from: 0, to: block.count, by: channels).map { block[$0] }
      let right =
        channels == 1 ? left : stride(from: 1, to: block.count, by: channels).map { block[$0] }
      ring.write(left: left, right: right)
    }
    ring.finish()
  }
}

/// The file of one playback, on its disk thread.
private final class DiskSource: @unchecked Sendable {
  // Unchecked: made by the controller, then read by the disk thread alone; the flag is an atomic.
  private let file: AudioFileReader
  private let ended = Atomic<Bool>(false)
  var isAtEnd: Bool { ended.load(ordering: .acquiring) }

  init(file: AudioFileReader) { self.file = file }

  func read(frames: Int) -> [Float] {
    let block = file.read(frames: frames)
    if block.isEmpty { ended.store(true, ordering: .releasing) }
    return block
  }
}
