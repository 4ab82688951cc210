import Foundation
import Realtime
import Recording

/// Takes that are played back through the outputs.
extension Processor {
  /// Answers when the take begins to play.
  package func play(_ path: String, _ request: Request) throws {
    let client = try clientInGraph()
    try refuseDuringTake()
    try refuseDuringFadeOut()
    try refuseWhileDiskHangs()
    guard path.hasPrefix("/") else {
      throw Failure(.failed, "the take \(path) is not given from the root; give a path that begins with /")
    }
    try refuseDuringPlayback()
    guard !wanted.muted else {
      throw Failure(.failed, "the outputs are muted; let sound out with: pinna set --mute off")
    }
    enter(.openingPlayback(world.openPlayback(path, sampleRate: client.sampleRate), request))
  }

  /// Answers when the take has faded out.
  package func stopPlayback(_ request: Request) throws {
    switch state {
    case .openingPlayback(let player, let starter):
      enter(.live)
      giveUp(player, starter, .failed, "the playback was stopped before it began")
      request.answer(.done(player.report))
    case .playing(var playing):
      playing.stoppers.append(request)
      client?.endPlayback()
      enter(.endingPlayback(playing))
    case .endingPlayback(var playing):
      playing.stoppers.append(request)
      hold(.endingPlayback(playing))
    default: throw Failure(.failed, "nothing is being played; start with: pinna play TAKE")
    }
  }

  /// Everything that leaves is to be silent, or another device's.
  func endPlaybackNow() {
    guard case .playing(let playing) = state else { return }
    client?.endPlayback()
    enter(.endingPlayback(playing))
  }

  /// It has not begun, and is not wanted any more.
  func giveUp(_ player: any TakePlayback, _ starter: Request, _ status: ExitStatus, _ reason: String) {
    player.abandon()
    if player.isOpening { hanging.append(player) }
    starter.fail(status, reason)
  }

  func pollPlayback() {
    switch state {
    case .openingPlayback(let player, let request):
      switch player.phase {
      case .opening where isLate:
        enter(.live)
        giveUp(
          player, request, .failed,
          "\(player.path): the disk has not answered for 5 s; try again when it does")
      case .opening: break
      case .open(let ring):
        do {
          let ticket = try clientInGraph().beginPlayback(of: ring)
          enter(.playing(Playing(player: player, ticket: ticket)))
          notify(EngineEvent(.playbackBegan, "playing \(player.path)"))
          request.answer(.done(player.report))
        } catch {
          player.abandon()
          enter(.live)
          request.answer(.failed(Failure(error)))
        }
      case .failed(let error):
        enter(.live)
        request.fail(.failed, error.description)
      }
    case .endingPlayback(let playing) where isLate:
      playing.player.abandon()
      enter(.live)
      for request in playing.stoppers {
        request.fail(.failed, Self.stalled + "; the playback ends when it does")
      }
    default: break
    }
  }

  /// The callback does not read it any more.
  func playbackEnded(_ ticket: Ticket) {
    guard let playing = state.playback, playing.ticket == ticket else { return }
    enter(.live)
    finish(playing)
  }

  func finish(_ playing: Playing) {
    playing.player.abandon()
    notify(EngineEvent(.playbackEnded, "the playback of \(playing.player.path) has ended"))
    for request in playing.stoppers { request.answer(.done(playing.player.report)) }
  }
}

/// What is played, and how far: the answer to `play` and `play --stop`.
package struct PlaybackReport: Codable, Sendable {
  /// Path of the take.
  package let playing: String
  /// Length of the take.
  package let frames: Int
  package let channels: Int
  package let framesPlayed: Int
  /// Frames that are silent because the disk was late.
  package let missedFrames: Int

  package init(playing: String, frames: Int, channels: Int, framesPlayed: Int, missedFrames: Int) {
    self.playing = playing
    self.frames = frames
    self.channels = channels
    self.framesPlayed = framesPlayed
    self.missedFrames = missedFrames
  }
}
