import Foundation
import LiveSupport
import TestSupport
import Testing
import pinna

/// Lines for a standard error that nobody reads, or that cannot be written, block nobody.
@Suite("Standard error") struct ConsoleTests {
  /// A pipe and the text read from it. It stays open, since a console's thread may still write to it.
  final class Pipe {
    let (input, output): (Int32, Int32)
    private var text = ""
    /// F_SETPIPE_SZ, which Glibc's module omits.
    private static let setPipeSize: Int32 = 1031

    init() {
      var ends: [Int32] = [0, 0]
      pipe(&ends)
      (input, output) = (ends[1], ends[0])
      // Small, so that a few lines fill it.
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

  @Test("lines are written in order") func order() throws {
    let pipe = Pipe()
    let console = Self.console(pipe.input)
    for n in 0..<20 { console.put("line \(n)\n") }
    console.flush(until: .now + .seconds(10))
    #expect(pipe.lines == (0..<20).map { "line \($0)" })
  }

  @Test("an unread pipe blocks nobody, and one line counts the lost lines") func unreadPipe() throws {
    let pipe = Pipe()
    let console = Self.console(pipe.input)
    let text = String(repeating: "x", count: 99) + "\n"
    let start = ContinuousClock.now
    for _ in 0..<10_000 { console.put(text) }
    // Each write to the pipe would block forever.
    #expect(ContinuousClock.now - start < .seconds(5))
    console.flush(until: .now + .milliseconds(50))
    // Now a reader: the kept lines arrive, then the number of lost ones.
    #expect(waitUntil(seconds: 10) { pipe.lines.last?.hasSuffix("are missing") == true })
    let lines = pipe.lines
    let kept = lines.count { $0.hasPrefix("x") }
    #expect(lines.last == "\(10_000 - kept) are missing")
    // The queue, the pipe, and the line that is being written.
    #expect(kept >= Console.capacity && kept <= Console.capacity + 4096 / 100 + 1)
    console.put("again\n")
    #expect(waitUntil(seconds: 10) { pipe.lines.last == "again" })
  }

  @Test("a flush of lines that nobody reads ends at its deadline") func flush() {
    let pipe = Pipe()
    let console = Self.console(pipe.input)
    for _ in 0..<1000 { console.put(String(repeating: "x", count: 99) + "\n") }
    let start = ContinuousClock.now
    console.flush(until: start + .milliseconds(200))
    #expect(ContinuousClock.now - start >= .milliseconds(200))
  }

  @Test("a closed descriptor and a full disk only lose lines") func unwritable() throws {
    let closed = Self.console(-1)
    closed.put("lost\n")
    closed.flush(until: .now + .seconds(10))
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    let console = Self.console(full)
    for _ in 0..<10 { console.put("lost\n") }
    console.flush(until: .now + .seconds(10))
    // Now there is room again.
    let pipe = Pipe()
    dup2(pipe.input, full)
    console.put("written\n")
    console.flush(until: .now + .seconds(10))
    #expect(pipe.lines == ["written", "10 are missing"])
  }
}

@Suite("Limit on repeated sentences") struct RepeatLimitTests {
  private let start = ContinuousClock.now

  @Test("a sentence is printed three times in ten seconds and counted afterwards") func count() {
    var limit = RepeatLimit()
    let printed = (0..<20).map { limit.admit("again", at: start + .milliseconds(100 * $0)).count }
    #expect(printed == [1, 1, 1] + [Int](repeating: 0, count: 17))
    #expect(limit.admit("other", at: start + .seconds(2)) == ["other"])
    #expect(limit.admit("again", at: start + .seconds(10)) == ["again (17 times more)", "again"])
    #expect(limit.admit("again", at: start + .seconds(11)) == ["again"])
  }

  @Test("counted sentences are reported at the end") func rest() {
    var limit = RepeatLimit()
    for _ in 0..<5 { _ = limit.admit("again", at: start) }
    _ = limit.admit("once", at: start)
    #expect(limit.rest() == ["again (2 times more)"])
    #expect(limit.rest() == [])
  }

  @Test("sentences that never repeat are forgotten") func differentSentences() {
    var limit = RepeatLimit()
    for n in 0..<1000 { #expect(limit.admit("sentence \(n)", at: start) == ["sentence \(n)"]) }
    #expect(limit.admit("sentence 0", at: start) == ["sentence 0"])
  }
}
