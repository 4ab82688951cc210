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
}
