import Processor
import Recording
import Testing

/// What may be set while a take runs, and what a take ends.
@Suite("Markers, titles, and listening to one microphone") struct MarkerTests {
  private func mark(_ rig: Rig, _ label: String = "") -> Rig.SentRequest {
    rig.ask("record marker") { try $0.mark(label, $1) }
  }

  private func listen(_ rig: Rig) {
    rig.set(["listen": "two"], gain: 1)
    rig.run(periods: 3)
  }

  @Test(
    "markers and titles are taken from the request of a take to that of its end, and else refused")
  func markers() {
    let rig = Rig.live()
    #expect(mark(rig).text.contains("pinna record start"))
    rig.startTake()
    let take = rig.world.takes.last!
    // Status says that it records, while the disk and the callback have not begun.
    #expect(rig.processor.state.kind == .openingTake && mark(rig).status == .done)
    rig.open(take)
    #expect(rig.processor.state.kind == .startingTake && mark(rig).status == .done)
    rig.run(periods: 1)
    #expect(mark(rig, "three").status == .done && take.markers == 3)
    #expect(rig.ask("record title") { try $0.setTitle("Title", $1) }.status == .done && take.title == "Title")
    rig.stopTake()
    #expect(mark(rig).text.contains("is ending already") && take.markers == 3)
    let title = rig.ask("record title") { try $0.setTitle("late", $1) }
    #expect(title.status == .failed && take.title == "Title")
  }

  @Test("an armed take has markers and a title, too")
  func armed() {
    let rig = Rig.live()
    rig.armTake()
    rig.world.takes.last!.open()
    rig.processor.poll()
    rig.run(periods: 1)
    #expect(rig.processor.state.kind == .armed && mark(rig).status == .done)
  }

  @Test(
    "labels of two lines, with control characters, or of more than 200 bytes are refused with the reason",
    arguments: [
      ("a\nb", "one line"), ("a\u{2028}b", "one line"), ("\u{1B}[2J", "one line"),
      (String(repeating: "ö", count: 101), "at most 200 bytes"),
    ])
  func labels(label: String, reason: String) {
    let rig = Rig.live()
    let take = rig.record()
    let request = mark(rig, label)
    #expect(request.status == .usage && request.text.contains(reason) && take.markers == 0)
  }

  @Test("a take ends listening to one microphone before its first frame")
  func listening() {
    let rig = Rig.live()
    listen(rig)
    #expect(rig.world.client?.audibleSetting?.listening == "two" && rig.processor.inForce.listening == "two")
    _ = rig.record()
    rig.run(periods: 3)
    #expect(rig.processor.state.kind == .recording)
    #expect(rig.world.client?.audibleSetting?.listening == nil && rig.processor.inForce.listening == nil)
  }

  @Test("a take that cannot begin leaves the microphone that is listened to")
  func failedTake() {
    let rig = Rig.live()
    listen(rig)
    rig.startTake()
    rig.world.takes.last!.phase = .failed(TakeError("the disk is full"))
    rig.processor.poll()
    rig.run(periods: 3)
    #expect(rig.processor.state.kind == .live && rig.processor.inForce.listening == "two")
  }

  @Test("another device, or input, ends listening to one microphone")
  func otherDevice() {
    let rig = Rig.live()
    listen(rig)
    rig.set(["input": Rig.other.uid], gain: 2)
    rig.finishChange()
    #expect(rig.processor.inForce.device == Rig.other && rig.processor.inForce.listening == nil)
  }
}
