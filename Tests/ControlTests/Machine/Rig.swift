import Acoustics
import Foundation
import Messages
import Presets
import Processor
import Realtime
import Recording
import Settings
import TestSupport

/// A processor in a fake world, with all requests that were sent to it.
final class Rig {
  static let patterns: [PolarPattern] = [.omnidirectional, .cardioid]
  static func device(_ name: String, inputs: [Device] = []) -> Device {
    try! Device(
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
      main: FeedSetting(
        Selection(dataSource: "Front", polarPattern: .omnidirectional, inputOrientation: .portrait))),
    device: home)

  /// A request and its outcome.
  final class SentRequest {
    let event: String
    /// The gain that a change sets. It identifies the change, since no other has it.
    let gain: Int?
    var outcome: Outcome?
    /// The texts of its progress reports.
    var progress: [String] = []
    var request: Request!
    var requesterIsPresent = true
    /// Refused because of a take although `status` showed none.
    var wasWronglyRefused = false

    init(_ event: String, gain: Int?) { (self.event, self.gain) = (event, gain) }
  }

  let world = FakeWorld()
  let processor: Processor
  private(set) var requests: [SentRequest] = []
  private(set) var warnings: [String] = []

  init(reconnects: Bool = true) {
    var warn: (String) -> Void = { _ in }
    processor = Processor(
      world: world, setting: Self.setting, reconnects: reconnects, warn: { warn($0) })
    // Blocked threads are counted per process, and other suites abandon jobs meanwhile.
    warn = { [unowned self] in
      if !$0.contains("blocked in calls to the disk or to JACK") { warnings.append($0) }
    }
  }

  /// A processor in a graph with its first setting applied.
  static func live(reconnects: Bool = true) -> Rig {
    let rig = Rig(reconnects: reconnects)
    rig.join()
    return rig
  }

  func join(rate: Int = 48000) {
    world.now += .milliseconds(300)
    processor.poll()
    endOpening(rate)
    endDesign()
    endPreparing()
    run(periods: 3)
  }

  func run(periods: Int) {
    world.client?.run(periods: periods)
    processor.poll()
  }

  /// Advances time while the processor keeps polling.
  func advance(_ duration: Duration) {
    let end = world.now + duration
    while world.now < end {
      world.now = min(end, world.now + .seconds(2))
      processor.poll()
    }
  }

  /// Advances time while the processor keeps looking at a graph that runs no periods.
  func stall(_ duration: Duration, every interval: Duration = .milliseconds(45)) {
    let end = world.now + duration
    while world.now < end {
      world.now = min(end, world.now + interval)
      processor.poll()
    }
  }

  /// Advances time while the processor itself is stalled.
  func standStill(_ duration: Duration) {
    world.now += duration
    processor.poll()
  }

  @discardableResult
  func ask(_ event: String, gain: Int? = nil, _ body: (Processor, Request) throws -> Void) -> SentRequest {
    let sent = SentRequest(event, gain: gain)
    let request = Request(
      onProgress: { [unowned sent] text, _ in sent.progress.append(text) },
      isThere: { [unowned sent] in sent.requesterIsPresent },
      onAnswer: { [unowned self, unowned sent] in
        sent.outcome = $0
        if $0.status == .refused, processor.state.take == nil { sent.wasWronglyRefused = true }
      })
    sent.request = request
    requests.append(sent)
    request.attempt { try body(processor, request) }
    return sent
  }

  @discardableResult
  func set(_ changes: [String: String], gain: Int) -> SentRequest {
    ask("set", gain: gain) { processor, request in
      try processor.set(
        changes.map { try Change(SettingKey(word: $0.key), $0.value) } + [
          .set(.gain, .number(Self.decibels(gain)))
        ],
        request)
    }
  }

  @discardableResult
  func addFeed(_ n: Int, gain: Int) -> SentRequest {
    ask("feed add") {
      try $0.addFeed("feed\(n)", FeedWords(["gain", "\(Self.decibels(gain))"]), $1)
    }
  }
  @discardableResult
  func setFeed(_ n: Int, look: String? = nil, follow: String? = nil, gain: Int) -> SentRequest {
    let words =
      ["gain", "\(Self.decibels(gain))"] + (look.map { ["look", $0] } ?? [])
      + (follow.map { ["follow", $0] } ?? [])
    return ask("set --feed") { try $0.setFeed("feed\(n)", FeedWords(words[...]), $1) }
  }
  @discardableResult
  func removeFeed(_ n: Int) -> SentRequest { ask("feed remove") { try $0.removeFeed("feed\(n)", $1) } }

  /// Every request has its own gain between −60 and 24 dB.
  static func decibels(_ number: Int) -> Double { -60 + Double(number % 8000) / 100 }

  @discardableResult
  func startTake() -> SentRequest {
    ask("record start") { try $0.startTake(TakeRequest(words: []), $1) }
  }
  /// Requests a take that follows the transport.
  @discardableResult
  func armTake() -> SentRequest {
    ask("record start --transport") { try $0.startTake(TakeRequest(words: ["transport", "on"]), $1) }
  }
  @discardableResult
  func stopTake() -> SentRequest { ask("record stop") { try $0.stopTake($1) } }
  @discardableResult
  func play() -> SentRequest { ask("play") { try $0.play("/takes/played.wav", $1) } }
  @discardableResult
  func stopPlayback() -> SentRequest { ask("play stop") { try $0.stopPlayback($1) } }
  @discardableResult
  func stop() -> SentRequest { ask("stop") { $0.stop($1) } }
  @discardableResult
  func cancel() -> SentRequest { ask("cancel") { try $0.cancelChange($1) } }
  @discardableResult
  func requestPeriod() -> SentRequest { ask("period") { try $0.requestPeriod(seconds: 0.01, $1) } }

  var status: StatusReport {
    processor.status(droppedPackets: 0, deferredChanges: [], controller: nil)
  }

  // MARK: What the server and the disk do

  func endOpening(_ rate: Int) {
    world.endOpening(.success(rate))
    processor.poll()
  }

  func endDesign() {
    world.endDesign()
    processor.poll()
  }

  func endPreparing() {
    world.client?.endPreparing()
    processor.poll()
  }

  func killServer() {
    world.client?.loss = .server("it was killed")
    processor.poll()
  }

  func restartServer() {
    world.client?.endClosing()
    processor.poll()
    join()
  }

  /// The disk thread has opened the files of `take`.
  func open(_ take: FakeTake) {
    take.open()
    processor.poll()
  }

  /// The disk thread has finished `take`.
  func finish(_ take: FakeTake, _ result: TakeWriter.Result = FakeTake.whole) {
    take.phase = .finished(result)
    processor.poll()
  }

  /// Completes everything that a change of device waits for.
  func finishChange() {
    for _ in 0..<6 {
      endDesign()
      endPreparing()
      run(periods: 3)
    }
  }

  /// Starts a take and runs until it records.
  func record() -> FakeTake {
    startTake()
    let take = world.takes.last!
    open(take)
    run(periods: 1)
    return take
  }
}

extension Rig.SentRequest {
  var status: ExitStatus? { outcome?.status }
  var text: String { if case .failed(let failure) = outcome { failure.description } else { "" } }
  /// The JSON answer to the request; empty if it failed.
  var answer: [String: Any] {
    guard case .done = outcome, let text = outcome.map({ Answer($0).text }) else { return [:] }
    return ((try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any]) ?? [:]
  }
}
