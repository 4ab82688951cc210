import Foundation
import Realtime
import Recording

/// A take that is played back through the outputs, in place of what the microphones give.
struct PlaybackState {
  let player: TakePlayer
  let ticket: Ticket
  /// Who waits for its end.
  var replies: [Processor.Reply] = []
}

extension Processor {
  /// Answers when the take has begun to play; another one that plays is faded out first.
  func play(_ path: String, reply: @escaping Reply) throws {
    try refuseDuringTake()
    try refuseDuringSwap()
    guard path.hasPrefix("/") else {
      throw Failure(.failed, "the take \(path) is not given from the root; give a path that begins with /")
    }
    if let playback {
      throw Failure(.failed, "\(playback.player.path) is playing; stop it with: pinna play --stop")
    }
    guard !inForce.muted else {
      throw Failure(.failed, "the outputs are muted; let sound out with: pinna set --mute off")
    }
    let player = TakePlayer(path: path, sampleRate: client.sampleRate)
    do {
      playback = PlaybackState(player: player, ticket: try engine.beginPlayback(of: ring(of: player)))
    } catch {
      player.abandon()
      throw error
    }
    notify(EngineEvent(.playbackBegan, "playing \(path)"))
    reply(Answer(.done, json(PlaybackReport(player))))
  }

  private func ring(of player: TakePlayer) throws -> PlaybackRing {
    let end = Self.deadline()
    while .now < end {
      switch player.phase {
      case .opening: usleep(1000)
      case .open(let ring): return ring
      case .failed(let error): throw error
      }
    }
    throw Failure(.failed, "the disk of \(player.path) does not answer; try again")
  }

  /// Answers when the take has faded out.
  func stopPlayback(reply: Reply?) throws {
    guard playback != nil else {
      throw Failure(.failed, "nothing is being played; start with: pinna play TAKE")
    }
    try engine.endPlayback()
    if let reply { playback?.replies.append(reply) }
  }

  /// The callback does not read it any more, or there is no callback.
  func endPlayback() {
    guard let ended = playback else { return }
    playback = nil
    ended.player.abandon()
    notify(EngineEvent(.playbackEnded, "\(ended.player.path) has been played"))
    for reply in ended.replies { reply(Answer(.done, json(PlaybackReport(ended.player)))) }
  }
}

/// What is played, and how far.
package struct PlaybackReport: Codable {
  package let playing: String
  package let frames: Int
  package let channels: Int
  package let framesPlayed: Int
  /// Silent, because the disk did not bring them in time.
  package let missedFrames: Int

  init(_ player: TakePlayer) {
    playing = player.path
    frames = player.frames
    channels = player.channels
    framesPlayed = player.ring?.framesPlayed ?? 0
    missedFrames = player.ring?.missedFrames ?? 0
  }
}
