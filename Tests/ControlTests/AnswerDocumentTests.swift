import Control
import Foundation
import TestSupport
import Testing

/// Every answer has one definition, by which the controller encodes and the command line and sessions decode.
@Suite("Answers") struct AnswerDocumentTests {
  private typealias Document = Codable & Sendable

  private static let samples: [(text: String, type: any Document.Type)] = [
    (AnswerSamples.everything, StatusReport.self), (AnswerSamples.mono, StatusReport.self),
    (AnswerSamples.inputs, InputsReport.self),
    (AnswerSamples.keptChange, ChangeReport.self), (AnswerSamples.monoChange, ChangeReport.self),
    (AnswerSamples.takeStart, TakeStartAnswer.self), (AnswerSamples.silentTakeStart, TakeStartAnswer.self),
    (AnswerSamples.mutedTakeStart, TakeStartAnswer.self),
    (AnswerSamples.takeEnd, TakeAnswer.self), (AnswerSamples.plainTakeEnd, TakeAnswer.self),
    (AnswerSamples.playback, PlaybackReport.self), (AnswerSamples.stop, StopAnswer.self),
    (AnswerSamples.cancellation, CancelAnswer.self), (AnswerSamples.session, SessionAnswer.self),
  ]

  /// What `text` is once it has been decoded and encoded.
  private func rewritten(_ text: String, as type: any Document.Type) throws -> String {
    func rewrite<D: Document>(_ type: D.Type) throws -> String {
      json(try Answer(.done, text).document(type))
    }
    return try rewrite(type)
  }

  @Test("are decoded and encoded without a change, key by key")
  func samples() throws {
    for (text, type) in Self.samples { #expect(try rewritten(text, as: type) == text, "\(type)") }
  }

  @Test("that a processor gives are decoded and encoded without a change")
  func processor() throws {
    let rig = Rig.live()
    func check(_ text: String, _ type: any Document.Type) throws {
      #expect(try rewritten(text, as: type) == text)
    }
    func check(_ asked: Rig.Asked, _ type: any Document.Type) throws {
      try check(try #require(asked.outcome.map { Answer($0) }, "\(asked.event)").text, type)
    }
    func checkStatus() throws {
      let status = rig.processor.status(droppedPackets: 0, deferredChanges: [], controller: nil)
      try check(json(status), StatusReport.self)
    }
    try checkStatus()
    try check(json(rig.processor.inputsReport), InputsReport.self)
    let set = rig.set([:], gain: 1)
    rig.run(periods: 3)
    try check(set, ChangeReport.self)
    let play = rig.play()
    rig.world.players.last?.open()
    rig.processor.poll()
    try check(play, PlaybackReport.self)
    try checkStatus()
    let stopPlayback = rig.stopPlayback()
    rig.run(periods: 4)
    try check(stopPlayback, PlaybackReport.self)
    let take = rig.record()
    try check(rig.asked.last!, TakeStartAnswer.self)
    try checkStatus()
    let stopTake = rig.stopTake()
    rig.run(periods: 1)
    take.phase = .finished(FakeTake.whole)
    rig.processor.poll()
    try check(stopTake, TakeAnswer.self)
    try checkStatus()
  }

  /// Names of the fields of `value`, and of what is in it, that are nil.
  private func absentFields(_ value: Any, _ name: String = "") -> [String] {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional, mirror.children.isEmpty { return [name] }
    return mirror.children.flatMap { absentFields($0.value, $0.label ?? name) }
  }

  @Test("have a sample in which no field is absent, so that a new field needs a place in it")
  func everything() throws {
    #expect(absentFields(try Answer(.done, AnswerSamples.everything).document(StatusReport.self)) == [])
    #expect(absentFields(try Answer(.done, AnswerSamples.keptChange).document(ChangeReport.self)) == [])
    #expect(absentFields(try Answer(.done, AnswerSamples.takeStart).document(TakeStartAnswer.self)) == [])
    #expect(absentFields(try Answer(.done, AnswerSamples.takeEnd).document(TakeAnswer.self)) == [])
  }

  @Test("of a newer Pinna may have fields that this one does not know")
  func newer() throws {
    for (text, type) in Self.samples {
      let newer = text.replacing("{", with: #"{"aNewField":{"of":[1,null]},"#)
      #expect(try rewritten(newer, as: type) == text, "\(type)")
    }
  }

  @Test(
    "that are malformed are one sentence, which names what is wrong and what to do",
    arguments: [
      ("", "it is not a JSON object"), ("stopped", "it is not a JSON object"),
      ("[]", "it is not a JSON object"), ("{}", "state is missing"),
      (AnswerSamples.mono.replacing(#""period":64,"#, with: ""), "period is missing"),
      (AnswerSamples.mono.replacing("\"running\"", with: "\"asleep\""), "server has an invalid value"),
      (AnswerSamples.mono.replacing("\"xruns\":0", with: "\"xruns\":\"none\""), "xruns has an invalid value"),
      (AnswerSamples.mono.replacing("\"xruns\":0", with: "\"xruns\":null"), "xruns is null"),
      (
        AnswerSamples.mono.replacing(#","rmsDB":-20"#, with: ""), "levels.microphones[0].rmsDB is missing"
      ),
    ])
  func malformed(text: String, fault: String) throws {
    let failure = try #require(throws: Failure.self) { try Answer(.done, text).document(StatusReport.self) }
    #expect(failure.status == .failed)
    #expect(
      failure.description
        == "pinna run sent a malformed reply (\(fault)); it may be another version of Pinna: stop it, and start it again"
    )
  }

  @Test("of a request that failed are thrown with their status and their sentence")
  func failed() throws {
    let failure = try #require(throws: Failure.self) {
      try Answer(.refused, "a take is running").document(StatusReport.self)
    }
    #expect(failure == Failure(.refused, "a take is running"))
  }

  @Test("keep values that JSON has no numbers for")
  func nonFinite() throws {
    let text = json([1, .infinity, -.infinity, 0.5] as [Double])
    #expect(text == #"[1,"inf","-inf",0.5]"#)
    #expect(try Answer(.done, text).document([Double].self) == [1, .infinity, -.infinity, 0.5])
  }
}
