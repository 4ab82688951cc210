import Acoustics
import Control
import Foundation
import Presets
import Realtime
import Recording
import TestSupport

/// A processor in a fake world, with everything that was asked of it.
final class Rig {
  static let patterns: [PolarPattern] = [.omnidirectional, .cardioid]
  static func device(_ name: String, inputs: [Device] = []) -> Device {
    Device(
      name: name, title: name, body: .free,
      microphones: TestDevices.microphones([("one", 0, 0, 0), ("two", 10, 0, 0)]),
      dataSources: [TestDevices.source("Front", .front, .plusZ, microphones: [0, 1], patterns)],
      inputs: inputs)
  }
  static let other = device("b")
  static let home = device("a", inputs: [other])
  static let setting = Setting(
    preset: Preset(
      name: "fake", title: "Fake", device: "a",
      selection: Selection(dataSource: "Front", polarPattern: .omnidirectional, inputOrientation: .portrait)),
    device: home)

  /// A request, and how it ended.
  final class Asked {
    let event: String
    /// What a change asked for, by its gain, which no other has.
    let gain: Int?
    var outcome: Outcome?
    /// What it heard of its progress.
    var told: [String] = []
    var request: Request!
    var isAskerThere = true
    /// Refused because of a take, while `status` showed none.
    var wasWronglyRefused = false

    init(_ event: String, gain: Int?) { (self.event, self.gain) = (event, gain) }
  }

  let world = FakeWorld()
  let processor: Processor
  private(set) var asked: [Asked] = []
  private(set) var warnings: [String] = []

  init(preRollSeconds: Int = 0) {
    var warn: (String) -> Void = { _ in }
    processor = Processor(world: world, setting: Self.setting, warn: { warn($0) })
    warn = { [unowned self] in warnings.append($0) }
  }

  /// In a graph, with what was set first in force.
  static func live() -> Rig {
    let rig = Rig()
    rig.join()
    return rig
  }

  func join(rate: Int = 48000) {
    world.now += .milliseconds(300)
    processor.poll()
    world.endOpening(.success(rate))
    processor.poll()
    world.endDesign()
    processor.poll()
    world.client?.endPreparing()
    processor.poll()
    run(periods: 3)
  }

  func run(periods: Int) {
    world.client?.run(periods: periods)
    processor.poll()
  }

  /// Time passes, and the processor is awake meanwhile.
  func advance(_ duration: Duration) {
    let end = world.now + duration
    while world.now < end {
      world.now = min(end, world.now + .seconds(2))
      processor.poll()
    }
  }

  /// Time passes in which the processor itself stands still.
  func standStill(_ duration: Duration) {
    world.now += duration
    processor.poll()
  }

  @discardableResult
  func ask(_ event: String, gain: Int? = nil, _ body: (Processor, Request) throws -> Void) -> Asked {
    let asked = Asked(event, gain: gain)
    let request = Request(
      onProgress: { [unowned asked] text, _ in asked.told.append(text) },
      isThere: { [unowned asked] in asked.isAskerThere },
      onAnswer: { [unowned self, unowned asked] in
        asked.outcome = $0
        if $0.status == .refused, processor.state.take == nil { asked.wasWronglyRefused = true }
      })
    asked.request = request
    self.asked.append(asked)
    do { try body(processor, request) } catch { request.answer(.failed(Failure(error))) }
    return asked
  }

  @discardableResult
  func set(_ changes: [String: String], gain: Int) -> Asked {
    ask("set", gain: gain) { processor, request in
      try processor.set(
        changes.map { Change($0.key, $0.value) } + [Change("gain", "\(Self.decibels(gain))")], request)
    }
  }

  /// Every request has a gain of its own between −60 and 24 dB.
  static func decibels(_ number: Int) -> Double { -60 + Double(number % 8000) / 100 }

  @discardableResult
  func startTake() -> Asked {
    ask("record start") { try $0.startTake(TakeRequest(words: []), $1) }
  }
  @discardableResult
  func stopTake() -> Asked { ask("record stop") { try $0.stopTake($1) } }
  @discardableResult
  func play() -> Asked { ask("play") { try $0.play("/takes/played.wav", $1) } }
  @discardableResult
  func stopPlayback() -> Asked { ask("play stop") { try $0.stopPlayback($1) } }
  @discardableResult
  func stop() -> Asked { ask("stop") { $0.stop($1) } }
  @discardableResult
  func cancel() -> Asked { ask("cancel") { try $0.cancelChange($1) } }
  @discardableResult
  func requestPeriod() -> Asked { ask("period") { try $0.requestPeriod(seconds: 0.01, $1) } }

  /// Whatever another device waits for comes.
  func finishChange() {
    for _ in 0..<6 {
      world.endDesign()
      processor.poll()
      world.client?.endPreparing()
      processor.poll()
      run(periods: 3)
    }
  }

  /// A take that runs.
  func record() -> FakeTake {
    startTake()
    let take = world.takes.last!
    take.open()
    processor.poll()
    run(periods: 1)
    return take
  }
}

extension Rig.Asked {
  var status: ExitStatus? { outcome?.status }
  var text: String { if case .failed(let failure) = outcome { failure.description } else { "" } }
  /// What whoever asked gets as JSON; empty where that failed.
  var answer: [String: Any] {
    guard case .done = outcome, let text = outcome.map({ Answer($0).text }) else { return [:] }
    return ((try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any]) ?? [:]
  }
}
