import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Slow servers, and servers that change while Pinna is stopped") struct PatienceTests {
    /// A libjack whose clients take 0.3 s to close, and leave a mark when they begin.
    static let slowClose = """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <fcntl.h>
      #include <stdlib.h>
      #include <unistd.h>
      int jack_client_close(void *client) {
        int (*closeClient)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "jack_client_close");
        close(open(getenv("PINNA_TEST_MARK"), O_WRONLY | O_CREAT, 0600));
        usleep(300000);
        return closeClient(client);
      }
      """

    /// A libjack that refuses clients for the first second, as after a server was killed during its start.
    static let lateOpen = """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <stdarg.h>
      #include <time.h>
      void *jack_client_open(const char *name, int options, int *status, ...) {
        static struct timespec first;
        struct timespec now;
        va_list more;
        va_start(more, status);
        const char *server = options & 4 ? va_arg(more, const char *) : 0;
        va_end(more);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (!first.tv_sec) first = now;
        if ((now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000 < 1000) {
          *status = 0x21;
          return 0;
        }
        void *(*open)(const char *, int, int *, ...) =
            (void *(*)(const char *, int, int *, ...))dlsym(RTLD_NEXT, "jack_client_open");
        return server ? open(name, options, status, server) : open(name, options, status);
      }
      """

    @Test(
      "R4: Pinna stopped while it leaves a dead server continues and reconnects",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the slow libjack"))
    func standstill() throws {
      let home = try PinnaHome()
      let mark = home.folder.path + "/mark"
      let graph = try OfflineGraph(
        preset: "phone5", home: home,
        environment: try Preload.environment(Self.slowClose, home: home).merging(["PINNA_TEST_MARK": mark]) {
          $1
        })
      try? FileManager.default.removeItem(atPath: mark)
      try graph.killServer()
      // Closing has begun and not ended.
      try #require(waitUntil(seconds: 5) { access(mark, F_OK) == 0 })
      graph.program.suspend(seconds: 3)
      #expect(try waitUntil(seconds: 3) { try graph.status()["server"] as? String == "gone" })
      let hasEnded = waitUntil(seconds: 1) { !graph.program.isRunning }
      #expect(!hasEnded, "\(graph.program.errorText)")
      graph.restartServer()
      #expect(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "running" })
    }

    @Test(
      "run --wait keeps waiting when a server refuses clients at first",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the refusing libjack"))
    func refusesAtFirst() throws {
      let home = try PinnaHome()
      let graph = try OfflineGraph(
        preset: "phone5", home: home, options: ["--wait", "60"],
        environment: try Preload.environment(Self.lateOpen, home: home))
      #expect(try graph.status()["server"] as? String == "running")
    }

    @Test(
      "without --wait, a server's refusal is explained in words",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the refusing libjack"))
    func refusalInWords() throws {
      let home = try PinnaHome()
      let server = try OfflineServer(home: home)
      let program = try home.start(
        ["--server", server.name],
        server.environment.merging(try Preload.environment(Self.lateOpen, home: home)) { $1 })
      let end = try #require(program.wait(seconds: 20))
      #expect(end.status == 1 && end.isOneSentence, "\(end)")
      #expect(!end.error.contains("status 33") && end.error.contains("the server"), "\(end)")
    }

    @Test("run --wait ends at once when another client has the name")
    func nameTaken() throws {
      let home = try PinnaHome()
      let server = try OfflineServer(home: home)
      try server.take(name: "pinna")
      let program = try home.start(["--server", server.name, "--wait", "60"], server.environment)
      let end = try #require(program.wait(seconds: 20), "it still waits")
      #expect(end.status == 1 && end.error.contains("--name"), "\(end)")
    }

    @Test("a change of device in freewheel does not delay the server")
    func deviceInFreewheel() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      // Puts both designs into the cache.
      for preset in ["ring7", "phone5"] { try #require(try graph.pinna("preset", "use", preset).status == 0) }
      try graph.play(GraphTests.loop)
      var longest = Duration.zero
      for preset in ["ring7", "phone5", "ring7"] {
        let change = try Program(
          PinnaHome.binary(), ["preset", "use", preset], environment: graph.home.environment)
        var (frame, since) = (try graph.frame(), ContinuousClock.now)
        _ = try waitUntil(seconds: 3, every: 10) {
          let now = try graph.frame()
          if now != frame { (frame, since) = (now, .now) }
          longest = max(longest, .now - since)
          return !change.isRunning
        }
        #expect(change.wait(seconds: 20)?.status == 0)
      }
      #expect(longest < .seconds(2), "the server stood still for \(longest)")
    }
  }
}
