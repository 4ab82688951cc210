import Acoustics
import FilterDesign
import Foundation
import Realtime
import Recording

/// Takes: begun and ended through the same queue as every change.
extension Processor {
  func startTake(_ request: TakeRequest, reply: @escaping Reply) throws {
    try refuseDuringTake()
    try refuseDuringSwap()
    if let playback {
      throw Failure(.failed, "\(playback.player.path) is playing; stop it with: pinna play --stop")
    }
    let plan = TakePlan(
      outputs: wanted.selection.polarPattern.channels, sampleRate: client.sampleRate,
      options: request.options, setup: TakeSetup(wanted, sets.bank), preRoll: engine.preRoll)
    let writer = TakeWriter(folder: request.folder, plan: plan)
    do {
      keep(try engine.beginTake(into: ring(of: writer)), .takeBegin, reply)
    } catch {
      writer.discard()
      throw error
    }
    take = writer
  }

  private func ring(of writer: TakeWriter) throws -> TakeRing {
    let end = Self.deadline()
    while .now < end {
      switch writer.phase {
      case .opening: usleep(1000)
      case .open(let ring): return ring
      case .failed(let error): throw error
      case .finished: throw Failure(.failed, "the take has ended already")
      }
    }
    throw Failure(.failed, "the disk does not answer; try again, or choose another with --dir")
  }

  func stopTake(reply: @escaping Reply) throws {
    guard take != nil, finishing == nil else {
      throw Failure(.failed, "nothing is being recorded; start with: pinna record start")
    }
    keep(try engine.endTake(), .takeEnd, nil)
    finishing = (reply, Self.deadline())
  }

  /// A take that no period has come to begin leaves no file, and does not begin later.
  func cancelTake() {
    _ = try? engine.endTake()
    take?.discard()
    take = nil
  }

  /// Ends a take whatever the server does; what is in the ring reaches the disk. Nil where none is running.
  func finishTake() -> TakeWriter.Result? {
    guard let take else { return nil }
    if client.isServerGone { take.abandon() } else { _ = try? engine.endTake() }
    let end = ContinuousClock.now + .seconds(2)
    while result(of: take) == nil, ContinuousClock.now < end { usleep(10_000) }
    take.abandon()
    return finish(take, finishing?.reply)
  }

  func pollTake() {
    guard let finishing, let take else { return }
    if result(of: take) != nil {
      finish(take, finishing.reply)
    } else if ContinuousClock.now > finishing.deadline, take.ring?.isFinished != true {
      // No period has come to end it: what is in the ring is the take.
      take.abandon()
    }
  }

  private func result(of take: TakeWriter) -> TakeWriter.Result? {
    guard case .finished(let result) = take.phase else { return nil }
    return result
  }

  @discardableResult
  private func finish(_ take: TakeWriter, _ reply: Reply?) -> TakeWriter.Result {
    while result(of: take) == nil { usleep(1000) }
    let result = result(of: take)!
    if incompleteTake == nil, result.fault != nil { incompleteTake = result }
    self.take = nil
    finishing = nil
    if let fault = result.fault {
      reply?(Answer(.incompleteTake, "the take \(result.path) is incomplete: \(fault)"))
    } else {
      reply?(Answer(.done, json(TakeAnswer(result))))
    }
    notify(EngineEvent(.takeEnded, "the take \(result.path) has ended"))
    return result
  }
}

/// What `record start` asks for, as words.
struct TakeRequest {
  var folder = TakeFolder(path: nil)
  var options = TakeOptions()

  /// One word is a folder; more are pairs of key and value.
  init(words: [String]) throws {
    if words.count == 1 { folder = TakeFolder(path: words[0]) }
    guard words.count > 1 else { return }
    for (key, value) in stride(from: 0, to: words.count - 1, by: 2).map({ (words[$0], words[$0 + 1]) }) {
      switch key {
      case "dir": folder = TakeFolder(path: value)
      case "raw": options.raw = try Switch(word: value) == .on
      case "format": options.format = try TakeFormat(word: value)
      case "split-size": options.splitMegabytes = try Self.number(key, value, upTo: 1_000_000)
      case "split-minutes": options.splitMinutes = try Self.number(key, value, upTo: 10_000)
      default: throw UnknownWord(kind: "setting of a take", word: key, known: Self.keys)
      }
    }
  }

  static let keys = ["dir", "raw", "format", "split-size", "split-minutes"]

  private static func number(_ key: String, _ text: String, upTo most: Int) throws(Failure) -> Int {
    guard let number = Int(text), (1...most).contains(number) else {
      throw Failure(.usage, "\(key) \(text) is not usable; give a whole number from 1 to \(most)")
    }
    return number
  }
}

extension TakeFormat: NamedWord {
  public static let kind = "format"
}

extension TakeSetup {
  init(_ setting: Setting, _ bank: FilterBank) {
    self.init(
      preset: setting.preset, device: setting.device.name, dataSource: setting.selection.dataSource,
      polarPattern: setting.selection.polarPattern.rawValue,
      inputOrientation: setting.selection.inputOrientation.rawValue,
      layout: setting.layout.map { Layout(left: $0.left.rawValue, right: $0.right.rawValue) },
      gainDB: setting.gain.value, muted: setting.muted, microphones: bank.microphones,
      latencyFrames: bank.delayFrames)
  }
}
