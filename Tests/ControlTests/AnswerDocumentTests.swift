import Foundation
import Messages
import Settings
import TestSupport
import Testing

/// Every answer has one definition: the controller encodes it, the command line and sessions decode it.
@Suite("Answers") struct AnswerDocumentTests {
  private typealias Document = Codable & Sendable

  private static let samples: [(text: String, type: any Document.Type)] = [
    (AnswerSamples.everything, StatusReport.self), (AnswerSamples.mono, StatusReport.self),
    (AnswerSamples.inputs, InputsReport.self), (AnswerSamples.takes, NamesAnswer.self),
    (AnswerSamples.keptChange, ChangeReport.self), (AnswerSamples.monoChange, ChangeReport.self),
    (AnswerSamples.takeStart, TakeStartAnswer.self), (AnswerSamples.silentTakeStart, TakeStartAnswer.self),
    (AnswerSamples.mutedTakeStart, TakeStartAnswer.self),
    (AnswerSamples.takeEnd, TakeAnswer.self), (AnswerSamples.plainTakeEnd, TakeAnswer.self),
    (AnswerSamples.playback, PlaybackReport.self), (AnswerSamples.stop, StopAnswer.self),
    (AnswerSamples.cancellation, CancelAnswer.self), (AnswerSamples.session, SessionAnswer.self),
  ]

  /// `text` after it has been decoded and encoded.
  private func rewritten(_ text: String, as type: any Document.Type) throws -> String {
    func rewrite<D: Document>(_ type: D.Type) throws -> String {
      json(try Answer(.done, text).document(type))
    }
    return try rewrite(type)
  }

  @Test("every sample answer is decoded and encoded without a change, key by key")
  func samples() throws {
    for (text, type) in Self.samples { #expect(try rewritten(text, as: type) == text, "\(type)") }
  }

  @Test("a processor's answers are decoded and encoded without a change")
  func processor() throws {
    let rig = Rig.live()
    func check(_ text: String, _ type: any Document.Type) throws {
      #expect(try rewritten(text, as: type) == text)
    }
    func check(_ request: Rig.SentRequest, _ type: any Document.Type) throws {
      try check(try #require(request.outcome.map { Answer($0) }, "\(request.event)").text, type)
    }
    func checkStatus() throws {
      try check(json(rig.status), StatusReport.self)
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
    try check(rig.requests.last!, TakeStartAnswer.self)
    try checkStatus()
    let stopTake = rig.stopTake()
    rig.run(periods: 1)
    rig.finish(take)
    try check(stopTake, TakeAnswer.self)
    try checkStatus()
  }

  /// The names of all nil fields of `value` and of the values in it.
  private func absentFields(_ value: Any, _ name: String = "") -> [String] {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional, mirror.children.isEmpty { return [name] }
    return mirror.children.flatMap { absentFields($0.value, $0.label ?? name) }
  }

  @Test("samples have no absent field, so that a new field must be added to them")
  func everything() throws {
    #expect(absentFields(try Answer(.done, AnswerSamples.everything).document(StatusReport.self)) == [])
    #expect(absentFields(try Answer(.done, AnswerSamples.keptChange).document(ChangeReport.self)) == [])
    #expect(absentFields(try Answer(.done, AnswerSamples.takeStart).document(TakeStartAnswer.self)) == [])
    #expect(absentFields(try Answer(.done, AnswerSamples.takeEnd).document(TakeAnswer.self)) == [])
  }

  @Test("unknown fields in the answers of a newer Pinna are ignored")
  func newer() throws {
    for (text, type) in Self.samples {
      let newer = text.replacing("{", with: #"{"aNewField":{"of":[1,null]},"#)
      #expect(try rewritten(newer, as: type) == text, "\(type)")
    }
  }

  @Test(
    "a malformed answer is reported in one sentence that names the fault and what to do",
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

  @Test("the answer to a failed request is thrown with its status and sentence")
  func failed() throws {
    let failure = try #require(throws: Failure.self) {
      try Answer(.refused, "a take is running").document(StatusReport.self)
    }
    #expect(failure == Failure(.refused, "a take is running"))
  }

  @Test("infinite values, for which JSON has no numbers, are preserved")
  func nonFinite() throws {
    let text = json([1, .infinity, -.infinity, 0.5] as [Double])
    #expect(text == #"[1,"inf","-inf",0.5]"#)
    #expect(try Answer(.done, text).document([Double].self) == [1, .infinity, -.infinity, 0.5])
  }
}
