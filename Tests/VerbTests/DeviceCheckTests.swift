import LiveSupport
import PinnaSession
import Testing

/// The guided check as a program uses it.
@Suite("The guided check for programs") struct DeviceCheckTests {
  let home: PinnaHome
  var presets: [String] { [home.configFolder + "/pinna"] }

  init() throws {
    home = try PinnaHome()
    try home.addPair()
    try home.addSwappedPair()
  }

  @Test("S21: the check reports for each voice where it came out, what was expected, and the verdict")
  func verdict() throws {
    let check = try DeviceCheck(preset: "pair", presets: presets)
    #expect(check.cases.map(\.name) == ["Front, portrait"])
    let results = try check.run()
    #expect(results.isRight && results.lostSeconds == 0)
    let one = try #require(results.cases.first)
    #expect(one.checked.polarPattern == .stereo && one.checked.inputOrientation == .portrait)
    #expect(one.voices.map(\.direction) == [.left, .right, .front, .behind])
    #expect(one.voices.map(\.expectation.side) == [.left, .right, .middle, .middle])
    // A sphere with an ear at either end cannot tell front from back.
    #expect(one.voices.map(\.expectation.highestOverFront) == [nil, nil, nil, 1])
    #expect(one.voice(from: .left).levelDifference > 3 && one.voice(from: .left).timeDifference > 200e-6)
  }

  @Test("S21: the check names the voices that came out wrong")
  func swapped() throws {
    let results = try DeviceCheck(preset: "swapped", array: "pair", presets: presets).run()
    let one = try #require(results.cases.first)
    #expect(!results.isRight && one.voices.map { $0.fault == nil } == [false, false, true, true])
    #expect(one.voice(from: .left).fault?.hasSuffix("not 30° to the left") == true)
  }

  @Test("the check expects mono patterns to be softer from the sides and from behind than from the front")
  func mono() throws {
    let cases = try DeviceCheck(preset: "glasses8", presets: presets).cases
    let cardioids = cases.filter { $0.polarPattern == .cardioid }
    try #require(!cardioids.isEmpty)
    for one in cardioids {
      #expect(one.inputOrientation == nil)
      #expect(VoiceDirection.allCases.allSatisfy { one.expectation(of: $0).side == nil })
      #expect(VoiceDirection.allCases.map { one.expectation(of: $0).highestOverFront } == [0, 0, nil, -2])
    }
  }

  @Test("the check refuses the impossible in one sentence")
  func refusals() throws {
    for (preset, array, says) in [
      ("nosuch", nil, "there is no preset"), ("pair", "nosuch", "there is no device"),
      ("pair", "ring7", "ring7 has no microphone \"left-end\""),
    ] as [(String, String?, String)] {
      do throws(SessionError) {
        _ = try DeviceCheck(preset: preset, array: array, presets: presets)
        Issue.record("\(preset) in \(array ?? preset) was not refused")
      } catch {
        guard case .failed(let text) = error else { throw error }
        #expect(text.contains(says), "\(text)")
      }
    }
    #expect(throws: SessionError.self) { try DeviceCheck(preset: "phone2", presets: presets) }
  }
}
