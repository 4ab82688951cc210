import Acoustics
import Foundation
import Recording
import Session
import Synchronization

/// The control thread: takes requests from the socket, hands them to the processor, answers when they ended.
public final class Controller {
  /// Why `run` returned.
  public enum End: Sendable, Equatable {
    case stopped
    case serverGone(String)
  }

  let socket: ControlSocket
  let processor: Processor
  var register = SessionRegister()
  /// When sessions are asked again whether they are there.
  var nextRollCall = ContinuousClock.now
  private let events: ControllerEvents
  private let tell: (String) -> Void
  let warn: (String) -> Void
  private let reconnects: Bool
  private var stopping = false
  /// The take that a stop ended.
  private var ended: TakeWriter.Result?

  /// - Parameters:
  ///   - reconnects: whether a server that goes is waited for; otherwise `run` ends with it.
  ///   - tell: prints a line that somebody asked for.
  ///   - warn: prints a line for whoever watches the processor.
  public init(
    socket: ControlSocket, processor: Processor, events: ControllerEvents, reconnects: Bool,
    tell: @escaping (String) -> Void, warn: @escaping (String) -> Void
  ) {
    self.socket = socket
    self.processor = processor
    self.events = events
    self.tell = tell
    self.warn = warn
    self.reconnects = reconnects
    processor.notify = { [unowned self] in announce($0) }
  }

  /// Serves until somebody stops it, or the server goes for good. A take is finalised; its result is
  /// returned, or that of an earlier one that is incomplete.
  public func run() -> (end: End, take: TakeWriter.Result?) {
    var end = End.stopped
    while !stopping {
      events.quieten()
      if let reason = events.takeServerGone(), !goOn(without: reason) {
        end = .serverGone(reason)
        break
      }
      if events.stopRequested { break }
      if events.takeStatus() { tell(status) }
      if events.takeGraphChange() { processor.tendWiring() }
      if events.takeReload() { reload() }
      // Short while the callback owes us an answer; nothing in the callback may wake us.
      let patience: Int32 = processor.isBusy ? 2 : 50
      if let (message, sender) = socket.receive(milliseconds: patience, or: events.wake), let message {
        serve(message, from: sender)
      }
      processor.poll()
      tendSessions()
    }
    let last = processor.finishTake() ?? ended
    if case .serverGone = end {
      processor.giveUp(Answer(.noServer, "the JACK server has gone; start it again, then pinna run"))
    } else {
      processor.giveUp(Answer(.failed, "Pinna was stopped before this was done"))
    }
    announce(EngineEvent(.engineGone, "Pinna has stopped"))
    socket.leave(Answer(.notRunning, "Pinna has just stopped; start it again with: pinna run").message)
    processor.close()
    return (end, processor.incompleteTake ?? last)
  }

  private var status: String {
    json(
      processor.status(
        droppedPackets: socket.droppedPackets, wish: register.wish, controller: register.controller))
  }

  /// The server has gone: whether we wait for it. A take ends with it, at once.
  private func goOn(without reason: String) -> Bool {
    if reconnects { warn("the JACK server has gone (\(reason)); Pinna goes on when it is back") }
    let (canRejoin, take) = processor.leaveServer(reason)
    guard reconnects, canRejoin else {
      ended = take
      return false
    }
    if let take { warn(take.sentence) }
    return true
  }

  /// The preset's file as it stands now, where no session controls the route; a take, or a file that is wrong, leaves
  /// everything as it was.
  private func reload() {
    let name = processor.wanted.preset
    do {
      try change([Change(Change.preset, name)], of: nil) { [tell] in
        if $0.status != .done { tell("preset \(name) was not reloaded: \($0.text)") }
        if let kept = $0.kept { tell("preset \(name) is not reloaded yet: \(kept)") }
      }
    } catch { tell("preset \(name) was not reloaded: \(error)") }
  }

  private func serve(_ message: OSCMessage, from sender: ControlSocket.Sender) {
    let reply: Processor.Reply = { [socket] in socket.send($0.message, to: sender) }
    do { try dispatch(message, sender, reply) } catch { reply(Answer(Failure(error))) }
  }

  private func dispatch(
    _ message: OSCMessage, _ sender: ControlSocket.Sender, _ reply: @escaping Processor.Reply
  ) throws {
    let words = message.words
    guard let method = OSCMethod.all.first(where: { $0.path == message.path }) else {
      throw UnknownWord(kind: "method", word: message.path, known: OSCMethod.all.map(\.path))
    }
    guard method.takes(words.count) else {
      throw Failure(.usage, "\(method.path) takes \(method.arguments); it got \(words.count) arguments")
    }
    switch method.action {
    case .status: reply(Answer(.done, status))
    case .inputs: reply(Answer(.done, json(processor.inputsReport)))
    case .set: try change(Self.changes(words[...]), of: nil, reply: reply)
    case .setOne(let key): try change([Change(key, words[0])], of: nil, reply: reply)
    case .usePreset: try change([Change(Change.preset, words[0])], of: nil, reply: reply)
    case .sessionOpen: reply(try open(words[0], sender))
    case .sessionClaim: reply(try claim(words[0], words[1]))
    case .sessionSet: try change(Self.changes(words.dropFirst()), of: words[0], reply: reply)
    case .sessionPeriod: reply(try requestPeriod(words[0], words[1]))
    case .sessionClose: reply(try close(words[0]))
    case .recordStart: try processor.startTake(TakeRequest(words: words), reply: reply)
    case .play: try processor.play(words[0], reply: reply)
    case .playStop: try processor.stopPlayback(reply: reply)
    case .recordStop: try processor.stopTake(reply: reply)
    case .stop:
      ended = processor.finishTake()
      if let take = ended, let fault = take.fault {
        reply(Answer(.incompleteTake, "the take \(take.path) is incomplete: \(fault)"))
      } else {
        reply(Answer(.done, json(["stopped": true])))
      }
      stopping = true
    }
  }

  private static func changes(_ words: ArraySlice<String>) -> [Change] {
    stride(from: words.startIndex, to: words.endIndex, by: 2).map { Change(words[$0], words[$0 + 1]) }
  }
}
