import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("The wall clock") struct ClockTests {
    /// Stands before the C library in one process, and moves its wall clock by the seconds in a file; the machine's
    /// own is nobody's to move.
    static let source = """
      #define _GNU_SOURCE
      #include <fcntl.h>
      #include <stdlib.h>
      #include <sys/syscall.h>
      #include <sys/time.h>
      #include <time.h>
      #include <unistd.h>
      int clock_gettime(clockid_t clock, struct timespec *time) {
        int result = (int)syscall(SYS_clock_gettime, clock, time);
        if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return result;
        int file = open(getenv("PINNA_CLOCK_FILE"), O_RDONLY | O_CLOEXEC);
        char text[32] = {0};
        if (file < 0) return result;
        if (read(file, text, sizeof text - 1) > 0) time->tv_sec += atol(text);
        close(file);
        return result;
      }
      int gettimeofday(struct timeval *time, void *zone) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        time->tv_sec = now.tv_sec;
        time->tv_usec = now.tv_nsec / 1000;
        return 0;
      }
      time_t time(time_t *out) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        if (out) *out = now.tv_sec;
        return now.tv_sec;
      }
      """

    @Test(
      "R22: may jump an hour either way: takes, names, timers and the way back to a server do not care",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the clock that jumps"))
    func jumps() throws {
      let home = try PinnaHome()
      func setClock(_ seconds: Int) throws { try home.folder.write("\(seconds)\n", to: "clock") }
      try setClock(0)
      let preload = try Preload.environment(Self.source, home: home)
      let graph = try LiveGraph(
        preset: "phone5", synchronous: true, home: home,
        environment: preload.merging(["PINNA_CLOCK_FILE": home.folder.path + "/clock"]) { $1 })
      var names = Set<String>()
      var worst = 0.0
      for jump in [3600, -3600, 0] {
        let start = try graph.pinna("record", "start", "--json")
        let began = ContinuousClock.now
        try #require(start.status == 0, "\(start)")
        try graph.waitForTake(frames: 9600)
        try setClock(jump)
        try graph.waitForTake(frames: 24_000)
        let asked = ContinuousClock.now
        #expect(try graph.status()["state"] as? String == "recording")
        let stop = try graph.pinna("record", "stop", "--json")
        #expect(ContinuousClock.now - asked < Faults.patience(.milliseconds(500)))
        let frames = try #require(try stop.json()["frames"] as? Int)
        worst = max(worst, abs(Double(frames) / 48_000 - (asked - began) / .seconds(1)))
        names.insert(try #require(try stop.json()["take"] as? String))
        #expect(try graph.pinna("set", "--gain", "-3").status == 0)
      }
      // What starting and asking the command line takes, on a busy machine.
      #expect(worst < 0.25, "\(worst) s")
      #expect(names.count == 3 && names.allSatisfy { FileManager.default.fileExists(atPath: $0) })
      try setClock(-3600)
      graph.killServer()
      #expect(try waitUntil(seconds: 2) { try graph.status()["server"] as? String == "gone" })
      try setClock(3600)
      try graph.restartServer()
      #expect(try waitUntil(seconds: 2) { try graph.status()["server"] as? String == "running" })
      Faults.report(
        "R22", done: "wall clock an hour on and back during takes: lengths against the monotonic clock",
        measured: String(format: "%.0f ms apart", 1000 * worst), limit: "< 250 ms", kept: worst < 0.25)
    }
  }
}
