import AudioFiles
import Glibc
import Realtime
import Synchronization
import Threads

/// Plays a take: a disk thread opens the file, creates the ring buffer, and fills it ahead of time. The callback drains
/// it. A mono take is played on both outputs.
///
/// Thread: the control thread makes all public calls. None of them waits for the disk.
public final class TakePlayer: Sendable {
  public enum Phase: Sendable {
    /// The disk thread is opening the file and reading the first frames.
    case opening
    /// The ring is half full, or holds the whole take.
    case open(PlaybackRing)
    /// The take cannot be played.
    case failed(TakeError)
  }

  public let path: String
  /// Sample rate of the JACK graph, which the take must have.
  public let sampleRate: Int
  private let state = Mutex<State>(State())
  private let abandoned = Atomic<Bool>(false)
  private let watch = DiskWatch()

  private struct State {
    var phase = Phase.opening
    var frames = 0
    var channels = 0
    var fault: String?
    var headerRemark: String?
    var invalidSamples = 0
  }

  /// Starts the disk thread and returns immediately.
  /// - Parameter sampleRate: sample rate of the JACK graph, which the take must have.
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

  /// What the outputs could not play, and how the file's header differs from it, as one sentence; nil if they played
  /// all of the take.
  public var fault: String? {
    let (fault, remark, invalid) = state.withLock { ($0.fault, $0.headerRemark, $0.invalidSamples) }
    let late = ring?.missedFrames ?? 0
    let sentences = [
      fault.map { "the playback ended early: \($0)" }, remark,
      invalid == 0
        ? nil
        : "\(path) has \(invalid) invalid samples (NaN, infinity or above +60 dBFS), which were silence",
      late == 0 ? nil : "the disk was too slow to play \(path): \(late) frames were silence",
    ].compactMap { $0 }
    return sentences.isEmpty ? nil : sentences.joined(separator: "; ")
  }

  /// The ring that the callback drains; nil while the take is being opened.
  public var ring: PlaybackRing? {
    guard case .open(let ring) = phase else { return nil }
    return ring
  }

  /// How long the present disk operation has taken; zero if there is none.
  public var unansweredFor: Duration { watch.unansweredFor }

  /// Ends the disk thread: the take is no longer played.
  public func abandon() { abandoned.store(true, ordering: .releasing) }

  private func enter(_ phase: Phase) { state.withLock { $0.phase = phase } }

  // MARK: - Disk thread

  private func work() {
    watch.begin()
    defer { watch.end() }
    do throws(TakeError) {
      let file = try open()
      let ring: PlaybackRing
      do throws(OutOfMemory) {
        // Long enough for a stalled disk, and no longer than a short take needs.
        ring = try PlaybackRing(reservingFrames: min(4 * sampleRate, max(16384, file.frames ?? .max)))
      } catch {
        throw TakeError("\(path) cannot be played: \(error)")
      }
      state.withLock {
        $0.frames = file.frames ?? 0
        $0.headerRemark = file.headerRemark
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
        "\(path) has \(file.channels) channels, and only one or two can be played; listen to microphones with: pinna render"
      )
    }
    guard file.sampleRate == sampleRate else {
      throw TakeError(
        "\(path) has a sample rate of \(file.sampleRate) Hz, and the JACK server \(sampleRate) Hz; convert the take, or start the server at its rate"
      )
    }
    guard file.frames != 0 else { throw TakeError("\(path) is empty; play another take") }
    return file
  }

  private func fill(_ ring: PlaybackRing, from file: AudioFileReader) {
    var isOpen = false
    var framesRead = 0
    while !abandoned.load(ordering: .acquiring) {
      if !isOpen, ring.freeFrames <= ring.capacityFrames / 2 {
        isOpen = true
        enter(.open(ring))
      }
      guard ring.freeFrames >= 4096 else {
        watch.end()
        usleep(10_000)
        continue
      }
      watch.begin()
      var block: [Float]
      do throws(AudioFileError) { block = try file.read(frames: 4096) } catch {
        state.withLock { $0.fault = error.description }
        break
      }
      if block.isEmpty {
        if framesRead < file.frames ?? 0 {
          state.withLock { $0.fault = "\(path) was cut to \(framesRead) frames while it was played" }
        }
        break
      }
      framesRead += block.count / file.channels
      silenceInvalid(&block, counted: file.invalidSamples.total)
      let left = stride(from: 0, to: block.count, by: file.channels).map { block[$0] }
      let right =
        file.channels == 1 ? left : stride(from: 1, to: block.count, by: file.channels).map { block[$0] }
      ring.write(left: left, right: right)
    }
    let remark = file.headerRemark
    state.withLock {
      $0.frames = file.frames ?? framesRead
      $0.headerRemark = remark
    }
    ring.finish()
    if !isOpen { enter(.open(ring)) }
  }

  /// Replaces samples that microphones may not send either (R14).
  private func silenceInvalid(_ block: inout [Float], counted total: Int) {
    guard total > state.withLock({ $0.invalidSamples }) else { return }
    for n in block.indices where !InvalidSamples.isValid(block[n]) { block[n] = 0 }
    state.withLock { $0.invalidSamples = total }
  }
}
