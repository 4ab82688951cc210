import AudioFiles
import Foundation
import LiveSupport
import Testing

/// What verbs show while they work.
@Suite("Waiting for verbs") struct WaitingTests {
  let home: VerbHome
  init() throws { home = try VerbHome(hasFilters: false) }

  /// A verb that always takes more than two seconds: each measurement lasts so long.
  private static let slow = ["bench", "--microphones", "64", "--taps", "8192", "--period", "4096"]

  @Test("in a pipe a verb of more than two seconds says once what it does, and its result stands alone")
  func pipe() throws {
    let clock = ContinuousClock()
    var outcome = Program.Outcome?.none
    let time = try clock.measure { outcome = try home.pinna(Self.slow + ["--json"]) }
    let bench = try #require(outcome)
    #expect(bench.status == 0 && (try? bench.json()) != nil, "\(bench)")
    let lines = bench.error.split(separator: "\n")
    try #require(time > .seconds(2.1))
    #expect((1...1 + Int(time / .seconds(10))).contains(lines.count), "\(bench), \(time)")
    #expect(lines[0].contains("measuring periods: ") || lines[0].contains("bench: "), "\(bench)")
  }

  @Test("a verb of less than two seconds says nothing but its result")
  func short() throws {
    let outcome = try home.pinna("preset", "list")
    #expect(outcome.status == 0 && outcome.error == "", "\(outcome)")
  }

  @Test("on a terminal the same verb draws a bar, and leaves none where the result stands")
  func terminal() throws {
    let outcome = try home.onTerminal(Self.slow.joined(separator: " "))
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.contains("measuring periods ") && outcome.output.contains("░"), "\(outcome)")
    let last = outcome.output.split(separator: /\r?\n/).last.map(String.init) ?? ""
    let shown = last.split(separator: "\r").last.map(String.init) ?? ""
    #expect(shown.contains("of a core") && !shown.contains("░"), "\(outcome)")
  }

  @Test("a Pinna that does not answer is waited for with a word")
  func remote() throws {
    let path = home.home.runtimeFolder + "/pinna"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // It accepts a request, and ends after 4 s.
    let listener = try Program(
      "/usr/bin/python3",
      [
        "-c",
        """
        import fcntl, socket, time
        lock = open("\(path)/pinna.sock.lock", "w"); fcntl.flock(lock, fcntl.LOCK_EX)
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.bind("\(path)/pinna.sock"); s.listen(8)
        c, _ = s.accept(); time.sleep(4)
        """,
      ])
    defer { listener.stop() }
    try #require(waitUntil(seconds: 10) { access(path + "/pinna.sock", F_OK) == 0 })
    let status = try home.pinna("status")
    let lines = status.error.split(separator: "\n")
    #expect(status.status != 0 && lines.count >= 2, "\(status)")
    #expect(lines.first?.contains("status: 2 s so far") == true, "\(status)")
  }
}
