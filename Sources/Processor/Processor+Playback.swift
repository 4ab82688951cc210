import Glibc
import Messages
import Realtime
import Recording
import Settings

/// Playback of takes through the outputs.
extension Processor {
  /// Plays the take at an absolute path. Answers when it begins to play.
  package func play(_ path: String, _ request: Request) throws {
    let client = try clientOutsideTakeOrFadeOut()
    try refuseWhileDiskHangs()
    guard path.hasPrefix("/") else {
      throw Failure(.failed, "the path of the take, \(path), is relative; give a path that begins with /")
    }
    try refuseDuringPlayback()
    guard !watchdog.isStalled else { throw Failure(.failed, Self.stalled + "; try again when they do") }
    guard !wanted.main.muted else {
      throw Failure(.failed, "the outputs are muted; unmute them with: pinna set --mute off")
    }
    enter(.openingPlayback(world.openPlayback(path, sampleRate: client.sampleRate), request))
  }

  /// Fades the playback out. Answers when the outputs no longer play it.
  package func stopPlayback(_ request: Request) throws {
    switch state {
    case .openingPlayback(let player, let startRequest):
      enter(.live)
      cancelPlayback(player, startRequest, Failure(.failed, "the playback was stopped before it began"))
      request.answer(.done(player.report))
    case .playing(var playing):
      playing.stopRequests.append(request)
      client?.endPlayback()
      enter(.endingPlayback(playing))
    case .endingPlayback(var playing):
      playing.stopRequests.append(request)
      updateState(.endingPlayback(playing))
    default: throw Failure(.failed, "nothing is being played; start with: pinna play TAKE")
    }
  }

  /// Ends a playback without a request to stop it: on mute, and before a change of device. One that has not begun never
  /// begins.
  /// - Parameter reason: what to answer to the request to play in that case.
  func endPlaybackNow(_ reason: String) {
    switch state {
    case .openingPlayback(let player, let request):
      enter(.live)
      cancelPlayback(player, request, Failure(.failed, reason))
    case .playing(let playing):
      client?.endPlayback()
      enter(.endingPlayback(playing))
    default: break
    }
  }

  /// Cancels a playback that has not begun, and fails the request that started it.
  func cancelPlayback(_ player: any TakePlayback, _ startRequest: Request, _ failure: Failure) {
    player.abandon()
    if player.isOpening { takes.hanging.append(player) }
    startRequest.fail(failure)
  }

  func pollPlayback() {
    switch state {
    case .openingPlayback(let player, let request):
      switch player.phase {
      case .opening where isLate:
        enter(.live)
        cancelPlayback(
          player, request,
          Failure(.failed, "\(player.path): the disk has not answered for 5 s; try again when it does"))
      case .opening: break
      case .open(let ring):
        do {
          let ticket = try clientInGraph().beginPlayback(of: ring)
          enter(.playing(Playing(player: player, ticket: ticket)))
          notify(.playbackBegan, "playing \(player.path)")
          request.answer(.done(player.report))
        } catch {
          player.abandon()
          enter(.live)
          request.fail(Failure(error))
        }
      case .failed(let error):
        enter(.live)
        request.fail(.failed, error.description)
      }
    case .endingPlayback(let playing) where isLate:
      enter(.live)
      finish(playing, Failure(.failed, Self.stalled + "; the playback ends when they do"))
    default: break
    }
  }

  /// Handles the callback's report that it no longer reads the playback's ring.
  func playbackEnded(_ ticket: Ticket) {
    guard let playing = state.playback, playing.ticket == ticket else { return }
    enter(.live)
    finish(playing)
  }

  /// Gives up the player, announces the end, and answers the requests to stop.
  /// - Parameter failure: their answer, if the callback has not confirmed the end.
  func finish(_ playing: Playing, _ failure: Failure? = nil) {
    playing.player.abandon()
    if let fault = playing.player.fault { warn(fault) }
    notify(.playbackEnded, "the playback of \(playing.player.path) has ended")
    for request in playing.stopRequests {
      request.answer(failure.map { .failed($0) } ?? .done(playing.player.report))
    }
  }
}
