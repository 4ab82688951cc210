import Acoustics
import Foundation
import Presets
import Recording

/// The control thread: takes requests from the socket, hands them to the processor, answers when they ended.
public final class Controller {
  /// Why `run` returned.
  public enum End: Sendable, Equatable {
    case stopped
    case serverGone(String)
    /// It never was in a graph.
    case notStarted(Failure)
  }

  let socket: ControlSocket
  let processor: Processor
  var register = SessionRegister()
  /// When sessions are asked again whether they are there.
  var nextRollCall = ContinuousClock.now
  private let events: ControllerEvents
  private let tell: (String) -> Void
  let warn: (String) -> Void
  /// How long a first server may take to come.
  private let wait: Duration
  private let onStart: () -> Void
  /// What came before the first graph, or behind a preset whose file is being read: it waits for that, but not for long.
  private var held: [(message: OSCMessage, sender: ControlSocket.Sender, deadline: ContinuousClock.Instant)] =
    []
  /// Changes that wait for a preset's file.
  let reads = PresetReads()
  private var hasStarted = false

  /// - Parameters:
  ///   - wait: how long a first server may take to come; after that `run` ends.
  ///   - onStart: called once, when the processor is in its first graph.
  ///   - tell: prints a line that somebody asked for.
  ///   - warn: prints a line for whoever watches the processor.
  package init(
    socket: ControlSocket, processor: Processor, events: ControllerEvents, wait: Duration = .zero,
    onStart: @escaping () -> Void, tell: @escaping (String) -> Void,
    warn: @escaping (String) -> Void
  ) {
    self.socket = socket
    self.processor = processor
    self.events = events
    self.tell = tell
    self.warn = warn
    self.wait = wait
    self.onStart = onStart
    processor.notify = { [unowned self] in announce($0) }
  }

  /// Brings the processor into a graph, and serves from the beginning on, until somebody stops it or the server goes for
  /// good. A take is finalised.
  /// - Returns: why it ended, and what became of the takes.
  public func run() -> (end: End, takes: TakeOutcome) {
    let waitEnd = ContinuousClock.now + wait
    var end = End.notStarted(Failure(.failed, "stopped before it was in a graph"))
    processor.poll()
    while !processor.isStopped {
      events.quieten()
      if events.stopRequested, !processor.isStopping { processor.stop(nil) }
      if events.takeStatus() { tell(status) }
      if events.takeGraphChange() { processor.graphChanged() }
      if events.takeReload() { reload() }
      // Short while somebody waits; nothing in the callback may wake us.
      let patience: Int32 = processor.isBusy || !reads.isEmpty ? 2 : 45
      if let (message, sender) = socket.receive(milliseconds: patience, or: events.wake), let message {
        receive(message, from: sender)
      }
      processor.poll()
      reads.poll()
      if case .notStarted = end, !processor.isStopping {
        if processor.state.isInGraph {
          end = .stopped
          hasStarted = true
          onStart()
        } else if let failure = processor.startFailure(isWaiting: .now < waitEnd) {
          end = .notStarted(failure)
          processor.stop(nil)
        }
      }
      if let reason = processor.lossForGood, !processor.isStopping {
        end = .serverGone(reason)
        processor.stop(nil)
      }
      serveHeld()
      tendSessions()
    }
    reads.giveUp()
    announce(EngineEvent(.engineGone, "Pinna has stopped"))
    socket.leave(Answer(.notRunning, "Pinna has just stopped; start it again with: pinna run").message)
    processor.closeClient()
    return (end, processor.takeOutcome)
  }

  private var status: String {
    json(
      processor.status(
        droppedPackets: socket.droppedPackets, wish: register.wish, controller: register.controller))
  }

  /// The preset's file as it stands now, where no session controls the route; a take, or a file that is wrong, leaves
  /// everything as it was.
  private func reload() {
    let name = processor.wanted.preset
    let request = Request { [warn] outcome in
      switch outcome {
      case .failed(let failure): warn("preset \(name) was not reloaded: \(failure)")
      case .done(let document):
        if let kept = (document as? ChangeReport)?.kept {
          warn("preset \(name) is not reloaded yet: \(kept)")
        } else {
          warn("preset \(name) was reloaded")
        }
      }
    }
    do { try change([Change(Change.preset, name)], of: nil, request) } catch {
      request.answer(.failed(Failure(error)))
    }
  }

  /// Before the first graph requests wait for it, as long as a first design may take a caller's patience: 20 s, a status
  /// one second. Behind a preset whose file is being read they wait 50 ms, so that changes keep their order. Only a stop is
  /// served at once, and then what only asks.
  private func receive(_ message: OSCMessage, from sender: ControlSocket.Sender) {
    let asks = ["/pinna/status", "/pinna/inputs"].contains(message.path)
    let waits = hasStarted ? !reads.isEmpty && !asks : true
    guard waits, message.path != "/pinna/stop", held.count < 64, !processor.isStopping else {
      return serve(message, from: sender)
    }
    let patience: Duration =
      hasStarted ? .milliseconds(50) : .seconds(message.path == "/pinna/status" ? 1 : 20)
    held.append((message, sender, .now + patience))
  }

  private func serveHeld() {
    func isDue(_ deadline: ContinuousClock.Instant) -> Bool {
      hasStarted && reads.isEmpty || processor.isStopping || .now > deadline
    }
    // One by one: what is served may have the others wait again.
    while let next = held.firstIndex(where: { isDue($0.deadline) }) {
      let (message, sender, _) = held.remove(at: next)
      serve(message, from: sender)
    }
  }

  private func serve(_ message: OSCMessage, from sender: ControlSocket.Sender) {
    let request = Request(
      onProgress: { [socket] in socket.sendProgress($0, part: $1, to: sender) },
      isThere: { [socket] in !socket.hasGone(sender) },
      onAnswer: { [socket] in socket.send(Answer($0).message, to: sender) })
    do { try dispatch(message, sender, request) } catch { request.answer(.failed(Failure(error))) }
  }

  private func dispatch(_ message: OSCMessage, _ sender: ControlSocket.Sender, _ request: Request) throws {
    let words = message.words
    guard let method = OSCMethod.all.first(where: { $0.path == message.path }) else {
      throw UnknownWord(kind: "method", word: message.path, choices: OSCMethod.all.map(\.path))
    }
    guard method.takes(words.count) else {
      throw Failure(.usage, "\(method.path) takes \(method.arguments); it got \(words.count) arguments")
    }
    switch method.action {
    case .status:
      request.answer(
        .done(
          processor.status(
            droppedPackets: socket.droppedPackets, wish: register.wish, controller: register.controller)))
    case .inputs: request.answer(.done(processor.inputsReport))
    case .set: try change(Self.changes(words[...]), of: nil, request)
    case .setOne(let key): try change([Change(key, words[0])], of: nil, request)
    case .usePreset: try change([Change(Change.preset, words[0])], of: nil, request)
    case .cancelPreset: try processor.cancelChange(request)
    case .sessionOpen: request.answer(try open(words[0], sender))
    case .sessionClaim: request.answer(try claim(words[0], words[1]))
    case .sessionSet: try change(Self.changes(words.dropFirst()), of: words[0], request)
    case .sessionPeriod: try requestPeriod(words[0], words[1], request)
    case .sessionClose: request.answer(try close(words[0]))
    case .recordStart: try processor.startTake(TakeRequest(words: words), request)
    case .play: try processor.play(words[0], request)
    case .playStop: try processor.stopPlayback(request)
    case .recordStop: try processor.stopTake(request)
    case .stop: processor.stop(request)
    }
  }

  private static func changes(_ words: ArraySlice<String>) -> [Change] {
    stride(from: words.startIndex, to: words.endIndex, by: 2).map { Change(words[$0], words[$0 + 1]) }
  }
}

/// What became of the takes of a run. Whoever runs it has been told of each that ended by itself or with it.
public struct TakeOutcome: Sendable, Hashable {
  public let areComplete: Bool
  /// The path of an incomplete one where none of those that ended with the run is incomplete.
  public let earlierIncomplete: String?
}
