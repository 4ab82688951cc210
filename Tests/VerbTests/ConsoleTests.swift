import Foundation
import LiveSupport
import TestSupport
import Testing
import pinna

/// Lines for standard error that nobody reads, or cannot be written, hold nobody up.
@Suite struct ConsoleTests {
  /// A pipe, and what was read from it. It stays open: a console's thread may still write to it.
  final class Pipe {
    let (input, output): (Int32, Int32)
    private var text = ""
    /// F_SETPIPE_SZ, which Glibc's module leaves out.
    private static let setPipeSize: Int32 = 1031

    init() {
      var ends: [Int32] = [0, 0]
      pipe(&ends)
      (input, output) = (ends[1], ends[0])
      // Small, so that few lines fill it.
      _ = fcntl(input, Self.setPipeSize, 4096)
      _ = fcntl(output, F_SETFL, O_NONBLOCK)
    }

    var lines: [Substring] {
      var block = [UInt8](repeating: 0, count: 65536)
      while case let count = read(output, &block, block.count), count > 0 {
        text += String(decoding: block[..<count], as: UTF8.self)
      }
      return text.split(separator: "\n")
    }
  }

  static func console(_ descriptor: Int32) -> Console {
    Console(descriptor: descriptor) { "\($0) are missing\n" }
  }

  @Test func linesComeInOrder() throws {
    let pipe = Pipe()
    let console = Self.console(pipe.input)
    for n in 0..<20 { console.put("line \(n)\n") }
    console.flush(until: .now + .seconds(10))
    #expect(pipe.lines == (0..<20).map { "line \($0)" })
  }

  @Test func nobodyWaitsForAPipeThatNobodyReadsAndOneLineSaysWhatWasLost() throws {
    let pipe = Pipe()
    let console = Self.console(pipe.input)
    let text = String(repeating: "x", count: 99) + "\n"
    let start = ContinuousClock.now
    for _ in 0..<10_000 { console.put(text) }
    // Each would wait for ever.
    #expect(ContinuousClock.now - start < .seconds(5))
    console.flush(until: .now + .milliseconds(50))
    // A reader at last: what was kept comes, then how much was not.
    #expect(waitUntil(seconds: 10) { pipe.lines.last?.hasSuffix("are missing") == true })
    let lines = pipe.lines
    let kept = lines.count { $0.hasPrefix("x") }
    #expect(lines.last == "\(10_000 - kept) are missing")
    // The queue, the pipe, and the one on its way.
    #expect(kept >= Console.capacity && kept <= Console.capacity + 4096 / 100 + 1)
    console.put("again\n")
    #expect(waitUntil(seconds: 10) { pipe.lines.last == "again" })
  }

  @Test func aFlushOfWhatNobodyReadsEnds() {
    let pipe = Pipe()
    let console = Self.console(pipe.input)
    for _ in 0..<1000 { console.put(String(repeating: "x", count: 99) + "\n") }
    let start = ContinuousClock.now
    console.flush(until: start + .milliseconds(200))
    #expect(ContinuousClock.now - start >= .milliseconds(200))
  }

  @Test func aClosedDescriptorAndAFullDiskLoseLinesAndNothingElse() throws {
    let closed = Self.console(-1)
    closed.put("lost\n")
    closed.flush(until: .now + .seconds(10))
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    let console = Self.console(full)
    for _ in 0..<10 { console.put("lost\n") }
    console.flush(until: .now + .seconds(10))
    // There is room again.
    let pipe = Pipe()
    dup2(pipe.input, full)
    console.put("written\n")
    console.flush(until: .now + .seconds(10))
    #expect(pipe.lines == ["written", "10 are missing"])
  }
}

@Suite struct RepeatLimitTests {
  private let start = ContinuousClock.now

  @Test func theSameSentenceComesThreeTimesInTenSecondsAndIsThenCounted() {
    var limit = RepeatLimit()
    let told = (0..<20).map { limit.admit("again", at: start + .milliseconds(100 * $0)).count }
    #expect(told == [1, 1, 1] + [Int](repeating: 0, count: 17))
    #expect(limit.admit("other", at: start + .seconds(2)) == ["other"])
    #expect(limit.admit("again", at: start + .seconds(10)) == ["again (17 times more)", "again"])
    #expect(limit.admit("again", at: start + .seconds(11)) == ["again"])
  }

  @Test func whatWasKeptBackIsToldAtTheEnd() {
    var limit = RepeatLimit()
    for _ in 0..<5 { _ = limit.admit("again", at: start) }
    _ = limit.admit("once", at: start)
    #expect(limit.rest() == ["again (2 times more)"])
    #expect(limit.rest() == [])
  }

  @Test func sentencesThatAreNeverTheSameAreNotKeptForEver() {
    var limit = RepeatLimit()
    for n in 0..<1000 { #expect(limit.admit("sentence \(n)", at: start) == ["sentence \(n)"]) }
    #expect(limit.admit("sentence 0", at: start) == ["sentence 0"])
  }
}
