import Testing
import pinna

/// The clock that plays along with a live check, over which float counts exactly.
@Suite struct HearingTests {
  /// 100 s at 192 kHz.
  static let frames = 19_200_000

  @Test func everyFrameOfALongCheckIsFoundThoughSomeAreLost() {
    let sound = (0..<Self.frames).map { Float($0 % 1000) }
    let clock = Hearing.clock(Self.frames)
    let lost = [100..<612, 16_777_000..<16_778_000, 19_000_000..<19_100_000]
    func cut(_ signal: [Float]) -> [Float] {
      var rest = signal
      for range in lost.reversed() { rest.removeSubrange(range) }
      return rest
    }
    let hearing = Hearing([cut(sound), cut(sound), cut(clock)], reference: sound)
    #expect(hearing.lostFrames == lost.reduce(0) { $0 + $1.count })
    let isHeard = hearing.left.indices.allSatisfy { n in
      hearing.left[n] == (lost.contains { $0.contains(n) } ? 0 : sound[n])
    }
    #expect(isHeard && hearing.left == hearing.right && hearing.left == hearing.reference)
  }
}
