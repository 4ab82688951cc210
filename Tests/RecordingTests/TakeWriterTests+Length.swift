import AudioFiles
import Foundation
import LiveSupport
import Realtime
import Recording
import TestSupport
import Testing

/// Takes that end by themselves.
extension TakeWriterTests {
  @Test("a take of one second has 48000 frames after its pre-roll, although the callback records more")
  mutating func length() throws {
    for _ in 0..<5 { run.process(Self.period) }
    let writer = try writer { $0.length = 1 }
    _ = try run.engine.beginTake(into: writer.opened())
    // So that the end is within a period.
    let stall = Timing.stall(48_000 - 20 * Self.period + 17)
    run.process(Self.period, timing: Timing())
    run.process(Self.period, timing: stall)
    #expect(!writer.isOver)
    for _ in 0..<30 { run.process(Self.period) }
    #expect(writer.isOver)
    let result = try end(writer)
    let (outputs, microphones) = try files(result)
    let frames = 5 * Self.period + 48_000
    #expect(result.frames == frames && outputs.frames == frames && microphones.frames == frames)
    // What is missing is the stall alone.
    #expect(result.sidecar.missing.count == 1 && result.sidecar.gaps.map(\.frames) == [stall.skippedFrames])
    // 6 periods, the gap, and the rest of the second after it.
    let rest = 48_000 - Self.period - stall.skippedFrames
    let expected = [0..<6 * Self.period, 6 * Self.period..<6 * Self.period + rest].map { Array(sound[2][$0]) }
    #expect(Array(microphones.channels[2].prefix(6 * Self.period)) == expected[0])
    #expect(Array(microphones.channels[2].suffix(rest)) == expected[1])
  }

  @Test("a gap beyond the end of a take that ends by itself is neither written nor listed")
  mutating func gapBeyond() throws {
    let writer = try writer { $0.length = 1 }
    _ = try run.engine.beginTake(into: writer.opened())
    run.process(Self.period)
    run.process(Self.period, timing: .stall(47_000))
    for _ in 0..<20 { run.process(Self.period) }
    run.process(Self.period, timing: .stall(5000))
    let result = try end(writer)
    #expect(result.frames == 48_000 && result.sidecar.gaps.map(\.frames) == [47_000])
  }

  @Test("the sidecar, the list of takes and the broadcast chunk say which Pinna recorded a take")
  mutating func whose() throws {
    let result = try take(try writer(), periods: 5)
    let bytes = try Data(contentsOf: URL(filePath: result.path))
    #expect(bytes.range(of: Data("recorded by left-room".utf8)) != nil)
    #expect(try sidecar(result).setup.pinna == "left-room")
    #expect(TakeFolder(path: folder.path).takes().map(\.pinna) == ["left-room"])
  }
}
