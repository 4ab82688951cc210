import GuidedCheck
import Testing

/// The clock signal that a live check plays, which counts frames exactly in floats.
@Suite("Output of a live check") struct CheckOutputTests {
  /// 100 s at 192 kHz.
  static let frames = 19_200_000

  @Test("every frame of a long check is found even if some are lost", .nightly, .long) func lostFrames() {
    let sound = (0..<Self.frames).map { Float($0 % 1000) }
    let clock = CheckOutput.clock(Self.frames)
    let lost = [100..<612, 16_777_000..<16_778_000, 19_000_000..<19_100_000]
    func cut(_ signal: [Float]) -> [Float] {
      var rest = signal
      for range in lost.reversed() { rest.removeSubrange(range) }
      return rest
    }
    let output = CheckOutput([cut(sound), cut(sound), cut(clock)], reference: sound)
    #expect(output.lostFrames == lost.reduce(0) { $0 + $1.count })
    let isHeard = output.left.indices.allSatisfy { n in
      output.left[n] == (lost.contains { $0.contains(n) } ? 0 : sound[n])
    }
    #expect(isHeard && output.left == output.right && output.left == output.reference)
  }
}
