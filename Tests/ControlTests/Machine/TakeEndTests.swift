import Foundation
import JackClient
import Messages
import Processor
import Realtime
import Recording
import TestSupport
import Testing

/// Messages at the beginning and the end of a take.
@Suite("Messages about takes from the processor") struct TakeEndTests {
  /// Lets the processor look at the graph and read the result.
  func look(_ rig: Rig) { for _ in 0..<2 { rig.advance(.milliseconds(100)) } }

  func finish(_ take: FakeTake, _ result: TakeWriter.Result, _ rig: Rig) {
    rig.run(periods: 1)
    rig.finish(take, result)
  }

  @Test(
    "a take's start names the unconnected microphones in the answer and in the sidecar",
    arguments: [
      ([], "no microphone was connected when the take began"),
      (["two"], "2 of 3 microphones were not connected when the take began: one, three"),
      (["one", "two"], "1 of 3 microphones was not connected when the take began: three"),
      (["one", "two", "three"], nil),
    ])
  func unconnected(connected: [String], note: String?) {
    let rig = Rig.live()
    let names = ["one", "two", "three"]
    rig.world.client?.readings.microphones = names
    rig.world.client?.readings.levels = [Level](repeating: Level(rms: 0, peak: 0), count: 5)
    rig.world.client?.connectedPorts = Set(connected)
    look(rig)
    let take = rig.record()
    let answer = rig.requests.last!.answer
    #expect(answer["unconnected"] as? [String] ?? [] == names.filter { !connected.contains($0) }, "\(answer)")
    #expect(take.notes == [note].compactMap { $0 })
  }

  @Test(
    "a take that ended with the server is reported by record stop, with status 3 or 7, until another begins",
    arguments: [FakeTake.whole, FakeTake.incomplete])
  func endedWithServer(result: TakeWriter.Result) {
    let rig = Rig.live()
    let take = rig.record()
    rig.killServer()
    #expect(take.events.contains { $0.contains("JACK server has gone (it was killed)") }, "\(take.events)")
    // The disk thread is still writing it.
    let early = rig.stopTake()
    #expect(early.outcome == nil)
    finish(take, result, rig)
    let again = rig.stopTake()
    rig.restartServer()
    let back = rig.stopTake()
    for stop in [early, again, back] {
      #expect(stop.status == (result.fault == nil ? .noServer : .incompleteTake))
      for words in [result.path, "0 frames", "it was killed", result.fault ?? "complete"] {
        #expect(stop.text.contains(words), "\(stop.text)")
      }
    }
    let second = rig.record()
    #expect(rig.stopTake().outcome == nil)
    finish(second, FakeTake.whole, rig)
    let none = rig.stopTake()
    #expect(none.status == .failed && none.text.contains("nothing is being recorded"))
  }

  @Test("a take that ended with the server is not reported once another began, however late it is on disk")
  func overtaken() {
    let rig = Rig.live()
    let first = rig.record()
    rig.killServer()
    rig.restartServer()
    let second = rig.record()
    rig.stopTake()
    finish(second, FakeTake.whole, rig)
    #expect(rig.stopTake().status == .failed)
    finish(first, FakeTake.whole, rig)
    #expect(rig.stopTake().status == .failed)
  }

  @Test("a take's end names the microphones whose sources were lost and did not return")
  func lostSources() throws {
    let rig = Rig.live()
    let client = try #require(rig.world.client)
    client.readings.microphones = ["one", "two", "three"]
    client.readings.levels = [Level](repeating: Level(rms: 0, peak: 0), count: 5)
    client.connectedPorts = ["one", "two", "three"]
    look(rig)
    for (lost, sentence) in [
      (["one", "two"], "2 microphones lost their source during the take: one, two; see whole.json"),
      (["one"], "1 microphone lost its source during the take: one; see whole.json"), ([], nil),
    ] {
      client.connectedPorts = ["one", "two", "three"]
      look(rig)
      let take = rig.record()
      client.events = ["one", "two", "out_left"].map { .lost(.init($0, "player:\($0)")) }
      client.connectedPorts = ["three"]
      look(rig)
      let back = ["one", "two"].filter { !lost.contains($0) }
      client.events = back.map { .restored(.init($0, "player:\($0)")) }
      client.connectedPorts.formUnion(back)
      look(rig)
      let stop = rig.stopTake()
      finish(take, FakeTake.whole, rig)
      #expect(stop.answer["notes"] as? [String] == [sentence].compactMap { $0 }, "\(stop.answer)")
    }
  }

  @Test("a take that ends with Pinna is named by the stop and the run, which name no other")
  func endedWithStop() {
    let rig = Rig.live()
    let first = rig.record()
    let firstStop = rig.stopTake()
    finish(first, FakeTake.incomplete, rig)
    #expect(firstStop.status == .incompleteTake)
    let second = rig.record()
    let stop = rig.stop()
    finish(second, FakeTake.whole, rig)
    let named = (stop.answer["takes"] as? [[String: Any]])?.compactMap { $0["take"] as? String }
    #expect(stop.status == .done && named == [FakeTake.whole.path], "\(stop.answer)")
    #expect(rig.warnings == [FakeTake.whole.sentence])
    #expect(rig.processor.takes.outcome.areComplete == false)
  }
}
