import AudioFiles
import Foundation
import LiveSupport
import Realtime
import Recording
import TestSupport
import Testing

@Suite("Playback of takes") struct TakePlayerTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  func take(channels: Int, sampleRate: Int = 48000) throws -> String {
    let path = folder.path + "/\(channels).wav"
    let channel = [Float](repeating: 0.25, count: 5000)
    try AudioClip(sampleRate: sampleRate, channels: Array(repeating: channel, count: channels)).write(
      wav: path)
    return path
  }

  /// The ring once the player has opened the file, or the reason that it could not.
  func outcome(_ player: TakePlayer) throws -> Result<PlaybackRing, TakeError> {
    var outcome: Result<PlaybackRing, TakeError>?
    _ = waitUntil(seconds: 10) {
      switch player.phase {
      case .opening: break
      case .open(let ring): outcome = .success(ring)
      case .failed(let error): outcome = .failure(error)
      }
      return outcome != nil
    }
    return try #require(outcome)
  }

  @Test("the player is open once all of a short take is in the ring", arguments: [1, 2])
  func short(channels: Int) throws {
    let player = TakePlayer(path: try take(channels: channels), sampleRate: 48000)
    let ring = try outcome(player).get()
    #expect(player.frames == 5000 && player.channels == channels)
    #expect(ring.capacityFrames - ring.freeFrames == 5000)
  }

  @Test("a file that cannot be played is reported with the reason: missing, a pipe, its channels, its rate")
  func failures() throws {
    mkfifo(folder.path + "/fifo", 0o600)
    let expected = [
      ("\(folder.path)/none.wav", "No such file"), ("\(folder.path)/fifo", "not a regular file"),
      (try take(channels: 3), "3 channels"), (try take(channels: 2, sampleRate: 44100), "44100 Hz"),
    ]
    for (path, reason) in expected {
      let player = TakePlayer(path: path, sampleRate: 48000)
      guard case .failure(let error) = try outcome(player) else {
        Issue.record("\(path) is played")
        continue
      }
      #expect(error.description.contains(reason) && error.description.contains(path), "\(error)")
    }
  }

  @Test(
    "a player on a hanging disk blocks nobody, reports how long it waits, and opens when the disk is back")
  func hangs() throws {
    let path = try take(channels: 2)
    // Opening a leased file waits until the lease is returned: F_SETLEASE, with the kernel's numbers. The
    // kernel notifies the holder by SIGIO, which would end this program.
    signal(SIGIO, SIG_IGN)
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    try #require(fcntl(descriptor, 1024, Int32(F_WRLCK)) == 0, "the file cannot be leased")
    let begun = ContinuousClock.now
    let player = TakePlayer(path: path, sampleRate: 48000)
    #expect(waitUntil(seconds: 10) { player.unansweredFor > .milliseconds(300) })
    guard case .opening = player.phase else {
      Issue.record("the player did not wait")
      return
    }
    #expect(player.unansweredFor <= .now - begun && player.frames == 0 && player.ring == nil)
    #expect(fcntl(descriptor, 1024, Int32(F_UNLCK)) == 0)
    _ = try outcome(player).get()
    #expect(waitUntil(seconds: 10) { player.unansweredFor == .zero })
    player.abandon()
  }

  @Test("invalid samples of a file are silence, and said")
  func invalidSamples() throws {
    let path = folder.path + "/invalid.wav"
    var channel = [Float](repeating: 0.25, count: 5000)
    for (n, value) in zip([10, 20, 30], [Float.nan, .infinity, 1e30]) { channel[n] = value }
    try AudioClip(sampleRate: 48000, channels: [channel]).write(wav: path)
    let player = TakePlayer(path: path, sampleRate: 48000)
    let engine = Engine(
      microphones: 1, taps: 16, sampleRate: 48000, fadeFrames: 16, instructionSet: .baseline)
    engine.prepare(period: 64)
    _ = try engine.beginPlayback(of: try outcome(player).get())
    var run = OfflineRun(engine, microphones: [[Float](repeating: 0, count: 1)])
    for _ in 0..<60 { run.process(64) }
    #expect(run.left.allSatisfy { abs($0) <= 0.25 } && run.left.contains(0.25))
    #expect(player.fault?.contains("3 invalid samples") == true, "\(player.fault as Any)")
  }

  @Test("a file that is cut while it plays is played to its new end, and that is said")
  func cutWhilePlaying() throws {
    let path = folder.path + "/cut.wav"
    let channel = [Float](repeating: 0.25, count: 48000 * 20)
    try AudioClip(sampleRate: 48000, channels: [channel]).write(wav: path)
    let player = TakePlayer(path: path, sampleRate: 48000)
    let ring = try outcome(player).get()
    // The ring holds 4 s and is never read: the disk thread waits with the rest unread.
    #expect(waitUntil(seconds: 5) { ring.freeFrames < 4096 })
    truncate(path, 4 * 48000 * 5)
    let engine = Engine(
      microphones: 1, taps: 16, sampleRate: 48000, fadeFrames: 16, instructionSet: .baseline)
    engine.prepare(period: 4096)
    _ = try engine.beginPlayback(of: ring)
    var run = OfflineRun(engine, microphones: [[Float](repeating: 0, count: 1)])
    #expect(
      waitUntil(seconds: 10) {
        if ring.freeFrames < ring.capacityFrames / 2 { run.process(4096) }
        return player.fault != nil
      })
    #expect(player.fault?.contains("was cut to") == true, "\(player.fault as Any)")
  }
}
