import Acoustics
import Messages
import Processor
import Settings
import Testing

@Suite("Requests for looks") struct LookRequestTests {
  private func look(_ rig: Rig, _ word: String, gain: Int = 1) -> Rig.SentRequest {
    rig.set(["look": word], gain: gain)
  }

  @Test(
    "the nearest look plays until the filters of another are designed; then it is heard, and the request answered"
  )
  func nearest() {
    let rig = Rig.live()
    let first = look(rig, "60")
    rig.run(periods: 10)
    // Omnidirectional became cardioid, along the data source's forward.
    #expect(rig.processor.inForce.main.selection.polarPattern == .cardioid)
    #expect(rig.processor.inForce.main.selection.look == nil && first.outcome == nil)
    #expect(rig.status.preferred.look == Look(azimuth: 60) && rig.status.selection.effectiveLook == nil)
    #expect(rig.status.designText == "filters at 60° are being designed; until then the nearest play")
    #expect(rig.processor.asked.main.selection.look == Look(azimuth: 60))
    rig.endDesign()
    rig.run(periods: 10)
    #expect(rig.status.designText == nil)
    #expect(first.status == .done && rig.status.selection.effectiveLook == Look(azimuth: 60))
    let second = look(rig, "70", gain: 2)
    rig.run(periods: 10)
    #expect(
      rig.status.selection.effectiveLook == Look(azimuth: 60)
        && rig.processor.inForce.main.gain.value == Rig.decibels(1))
    rig.endDesign()
    rig.run(periods: 10)
    #expect(second.status == .done && rig.status.selection.effectiveLook == Look(azimuth: 70))
    #expect(rig.processor.inForce.main.gain.value == Rig.decibels(2))
    // Known by now: no design.
    let again = look(rig, "60", gain: 3)
    #expect(rig.world.designs.isEmpty)
    rig.run(periods: 10)
    #expect(again.status == .done && rig.status.selection.effectiveLook == Look(azimuth: 60))
  }

  @Test("without filters for a look, what was heard before is heard again, and the request says why")
  func refusal() {
    let rig = Rig.live()
    let before = rig.processor.inForce
    let request = look(rig, "60")
    rig.run(periods: 10)
    rig.world.endDesign(Failure(.failed, "these microphones cannot do it"))
    rig.processor.poll()
    rig.run(periods: 10)
    #expect(request.text.contains("cannot do it") && rig.processor.inForce == before)
  }

  @Test(
    "a preset whose look cannot be had changes nothing, and what was changed since stays",
    arguments: [Rig.home, Rig.other])
  func presetRefusal(device: Device) throws {
    let rig = Rig.live()
    func run() {
      for _ in 0..<6 {
        rig.world.client?.endPreparing()
        rig.world.client?.endFeedJob()
        rig.run(periods: 10)
      }
    }
    rig.addFeed(0, gain: 1)
    run()
    let before = rig.processor.inForce
    var preset = Setting(preset: "other", device: device, feeds: [before.main])
    try preset.apply([Change(.look, "60"), Change(.highPass, "80")])
    preset.want([FeedSetting(name: "ben", before.main.selection)])
    let request = rig.ask("preset") { try $0.set([.preset("other")], preset: preset, $1) }
    if device == Rig.other { rig.endDesign() }
    run()
    #expect(rig.processor.inForce.preset == "other" && request.outcome == nil)
    let later = rig.set([:], gain: 2)
    run()
    rig.world.endDesign(Failure(.failed, "these microphones cannot do it"))
    rig.processor.poll()
    if device == Rig.other { rig.endDesign() }
    run()
    #expect(request.text.contains("cannot do it") && later.status == .done)
    var expected = before
    try expected.apply([Change(.gain, "\(Rig.decibels(2))")])
    #expect(rig.processor.inForce == expected && rig.processor.wanted == expected)
    #expect(rig.world.client?.audibleFeeds.map(\.key) == ["feed0"])
  }

  @Test(
    "R42: a server that dies before a look's filters are there leaves what was heard before the request, and what was changed since",
    arguments: [nil, 2])
  func serverDies(gain: Int?) {
    let rig = Rig.live()
    var before = rig.processor.inForce
    let request = look(rig, "60")
    rig.run(periods: 10)
    if let gain {
      _ = rig.set([:], gain: gain)
      rig.run(periods: 10)
      before.main.gain = Decibels(Rig.decibels(gain))
    }
    #expect(rig.processor.inForce != before)
    rig.killServer()
    rig.restartServer()
    #expect(request.status == .noServer && rig.processor.inForce == before)
  }

  @Test(
    "a take that begins before the filters are there records the nearest look, and the request is refused")
  func take() {
    let rig = Rig.live()
    let request = look(rig, "60")
    rig.run(periods: 10)
    _ = rig.record()
    #expect(request.status == .refused && request.text.contains("before the filters"))
    rig.world.endDesign()
    rig.run(periods: 10)
    #expect(rig.processor.inForce.main.selection.look == nil)
  }

  @Test("a newer look takes the place of one that is being designed, and the design of that ends")
  func newer() {
    let rig = Rig.live()
    let requests = (1...20).map { look(rig, "\($0 * 10)", gain: $0) }
    #expect(requests.dropLast().allSatisfy { $0.text == Failure.superseded })
    while !rig.world.designs.isEmpty { rig.endDesign() }
    rig.run(periods: 10)
    #expect(requests.last?.status == .done && rig.status.selection.effectiveLook == Look(azimuth: 200))
  }

  @Test("a data source and off end a look", arguments: [["data-source", "Front"], ["look", "off"]])
  func end(words: [String]) {
    let rig = Rig.live()
    _ = look(rig, "60")
    rig.endDesign()
    rig.run(periods: 10)
    rig.set([words[0]: words[1]], gain: 2)
    rig.run(periods: 10)
    #expect(rig.status.selection.effectiveLook == nil && rig.status.selection.polarPattern == .cardioid)
  }

  @Test("the answer to a look, of main or a feed, and status say what the pattern is weak in there")
  func weakness() {
    let rig = Rig.live()
    let request = look(rig, "60")
    #expect(rig.status.weak == nil)
    rig.endDesign()
    rig.run(periods: 10)
    #expect(request.answer["weak"] as? String == "it is a fake" && rig.status.weak == "it is a fake")
    rig.addFeed(0, gain: 2)
    rig.world.client?.endFeedJob()
    rig.run(periods: 10)
    #expect(rig.status.feeds?.first?.weak == "it is a fake")
    rig.set(["look": "off"], gain: 3)
    rig.run(periods: 10)
    #expect(rig.status.weak == nil)
  }

  @Test("a look whose pattern the filters of its input do not contain is heard again when that comes back")
  func otherInput() {
    let rig = Rig.live()
    rig.set(["look": "60", "pattern": "supercardioid"], gain: 1)
    rig.endDesign()
    rig.run(periods: 10)
    rig.set(["input": "b"], gain: 2)
    rig.finishChange()
    #expect(rig.processor.inForce.device == Rig.other)
    let back = rig.set(["input": "a"], gain: 3)
    rig.finishChange()
    #expect(back.status == .done, "\(back.text)")
    #expect(rig.status.selection.effectiveLook == Look(azimuth: 60))
  }

  @Test("while the filters of a look are designed, what plays until then does not count as settled")
  func unsettled() {
    let rig = Rig.live()
    _ = look(rig, "60")
    rig.run(periods: 10)
    #expect(rig.processor.inForce == rig.processor.wanted)
    #expect(!rig.processor.isSettled(at: rig.processor.wanted))
    rig.endDesign()
    rig.run(periods: 10)
    #expect(rig.processor.isSettled(at: rig.processor.wanted))
  }

  /// A processor whose look's filters are designed for another rate than before.
  private func restoring() -> Rig {
    let rig = Rig.live()
    _ = look(rig, "60")
    rig.endDesign()
    rig.run(periods: 10)
    changeRate(rig, to: 44100)
    #expect(rig.processor.inForce.main.selection.look == nil && rig.world.designs.count == 1)
    return rig
  }

  /// The server has another rate, for which the device's filters are there.
  private func changeRate(_ rig: Rig, to rate: Int) {
    while !rig.world.designs.isEmpty { rig.world.endDesign() }
    rig.world.client?.sampleRate = rate
    rig.run(periods: 1)
    rig.endDesign()
    rig.endPreparing()
    rig.run(periods: 10)
  }

  @Test("a look that another sample rate interrupts comes back after a take that began before its filters")
  func takeWhileRestored() {
    let rig = restoring()
    let take = rig.record()
    rig.endDesign()
    rig.run(periods: 10)
    #expect(rig.processor.inForce.main.selection.look == nil)
    rig.stopTake()
    rig.run(periods: 1)
    rig.finish(take)
    rig.run(periods: 10)
    #expect(rig.status.selection.effectiveLook == Look(azimuth: 60))
  }

  @Test("a look that another sample rate interrupts comes back although that changes again, or the server")
  func restoredAgain() {
    for way in ["rate", "server"] {
      let rig = restoring()
      if way == "rate" {
        changeRate(rig, to: 96000)
      } else {
        while !rig.world.designs.isEmpty { rig.world.endDesign() }
        rig.killServer()
        rig.restartServer()
        changeRate(rig, to: 96000)
      }
      rig.endDesign()
      rig.run(periods: 10)
      #expect(rig.status.selection.effectiveLook == Look(azimuth: 60), "\(way)")
    }
  }

  @Test("a look that cannot be had at another sample rate is reported, and the nearest stays")
  func notRestored() {
    let rig = restoring()
    rig.world.endDesign(Failure(.failed, "these microphones cannot do it"))
    rig.run(periods: 10)
    #expect(rig.warnings.contains { $0.contains("nearest") && $0.contains("cannot do it") })
    #expect(rig.processor.inForce == rig.processor.wanted)
  }

  @Test("a look with a pattern that favours no direction is refused, and changes nothing")
  func contradiction() {
    let rig = Rig.live()
    let before = rig.processor.wanted
    let request = rig.set(["look": "60", "pattern": "omnidirectional"], gain: 1)
    #expect(request.status == .usage && rig.processor.wanted == before)
  }
}
