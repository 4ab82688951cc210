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

  private let socket: ControlSocket
  private let processor: Processor
  private let events: ControllerEvents
  private let tell: (String) -> Void
  private var stopping = false

  /// - Parameter tell: prints a line for whoever watches the processor.
  public init(
    socket: ControlSocket, processor: Processor, events: ControllerEvents, tell: @escaping (String) -> Void
  ) {
    self.socket = socket
    self.processor = processor
    self.events = events
    self.tell = tell
  }

  /// Serves until somebody stops it or the server goes. A take is finalised; its result is returned.
  public func run() -> (end: End, take: TakeWriter.Result?) {
    var end = End.stopped
    while !stopping {
      if let reason = events.shutdownReason {
        end = .serverGone(reason)
        break
      }
      if events.stopRequested { break }
      if events.takeStatus() { tell(json(processor.status)) }
      if events.takeReload() { reload() }
      // Short while the callback owes us an answer; nothing in the callback may wake us.
      if let (message, sender) = socket.receive(milliseconds: processor.isBusy ? 2 : 50), let message {
        serve(message) { [socket] in socket.send($0.message, to: sender) }
      }
      processor.poll()
    }
    let result = processor.finishTake()
    if case .serverGone = end {
      processor.giveUp(Answer(.noServer, "the JACK server has gone; start it again, then pinna run"))
    } else {
      processor.giveUp(Answer(.failed, "Pinna was stopped before this was done"))
    }
    processor.close()
    return (end, result ?? processor.lastTake)
  }

  /// The preset's file as it stands now; a take, or a file that is wrong, leaves everything as it was.
  private func reload() {
    let name = processor.wanted.preset
    do {
      try processor.usePreset(name) { [tell] in
        if $0.status != .done { tell("preset \(name) was not reloaded: \($0.text)") }
      }
    } catch { tell("preset \(name) was not reloaded: \(error)") }
  }

  private func serve(_ message: OSCMessage, reply: @escaping Processor.Reply) {
    do { try dispatch(message, reply) } catch { reply(Answer(Failure(error))) }
  }

  private func dispatch(_ message: OSCMessage, _ reply: @escaping Processor.Reply) throws {
    let words = message.words
    guard let method = OSCMethod.all.first(where: { $0.path == message.path }) else {
      throw UnknownWord(kind: "method", word: message.path, known: OSCMethod.all.map(\.path))
    }
    guard method.takes(words.count) else {
      throw Failure(.usage, "\(method.path) takes \(method.arguments); it got \(words.count) arguments")
    }
    switch method.action {
    case .status: reply(Answer(.done, json(processor.status)))
    case .inputs: reply(Answer(.done, json(InputsReport(processor.inForce))))
    case .set:
      try processor.set(
        stride(from: 0, to: words.count, by: 2).map { (words[$0], words[$0 + 1]) }, reply: reply)
    case .setOne(let key): try processor.set([(key, words[0])], reply: reply)
    case .usePreset: try processor.usePreset(words[0], reply: reply)
    case .recordStart: try processor.startTake(folder: TakeFolder(path: words.first), reply: reply)
    case .recordStop: try processor.stopTake(reply: reply)
    case .stop:
      let result = processor.finishTake()
      if let fault = result?.fault {
        reply(Answer(.incompleteTake, "the take \(result!.path) is incomplete: \(fault)"))
      } else {
        reply(Answer(.done, json(["stopped": true])))
      }
      stopping = true
    }
  }
}

/// One row of the OSC method table; the README's is made from it.
public struct OSCMethod: Sendable {
  enum Action: Sendable {
    case status, inputs, set
    case setOne(String)
    case usePreset, recordStart, recordStop, stop
  }

  public let path: String
  /// In words, for people.
  public let arguments: String
  public let effect: String
  let action: Action
  fileprivate let counts: ClosedRange<Int>

  fileprivate func takes(_ count: Int) -> Bool {
    if case .set = action { return count >= 2 && count % 2 == 0 }
    return counts.contains(count)
  }

  init(_ path: String, _ arguments: String, _ counts: ClosedRange<Int>, _ effect: String, _ action: Action) {
    self.path = path
    self.arguments = arguments
    self.counts = counts
    self.effect = effect
    self.action = action
  }

  public static let all: [OSCMethod] = [
    OSCMethod("/pinna/status", "no arguments", 0...0, "everything that status prints, as JSON", .status),
    OSCMethod("/pinna/inputs", "no arguments", 0...0, "inputs and data sources, as JSON", .inputs),
    OSCMethod(
      "/pinna/set", "pairs of strings, setting and value", 2...10, "several changes as one crossfade", .set),
    OSCMethod("/pinna/set/data-source", "a string", 1...1, "change the data source", .setOne("data-source")),
    OSCMethod("/pinna/set/pattern", "a string", 1...1, "change the polar pattern", .setOne("pattern")),
    OSCMethod(
      "/pinna/set/orientation", "a string", 1...1, "change the input orientation", .setOne("orientation")),
    OSCMethod("/pinna/set/gain", "a number in dB", 1...1, "change the gain", .setOne("gain")),
    OSCMethod("/pinna/set/mute", "on or off", 1...1, "fade out or in", .setOne("mute")),
    OSCMethod("/pinna/preset/use", "a string", 1...1, "change to a preset", .usePreset),
    OSCMethod(
      "/pinna/record/start", "nothing, or a folder", 0...1, "start a take; changes are refused until it ends",
      .recordStart),
    OSCMethod("/pinna/record/stop", "no arguments", 0...0, "end the take", .recordStop),
    OSCMethod("/pinna/stop", "no arguments", 0...0, "end the processor, finalising a take", .stop),
  ]
}
