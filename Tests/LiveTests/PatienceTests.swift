import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("Slow servers, and servers that change while Pinna is stopped") struct PatienceTests {
    /// A libjack whose clients take 0.3 s to close.
    static let slowClose = """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <unistd.h>
      int jack_client_close(void *client) {
        int (*close)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "jack_client_close");
        usleep(300000);
        return close(client);
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
      let graph = try LiveGraph(
        preset: "phone5", home: home, environment: try Preload.environment(Self.slowClose, home: home))
      graph.killServer()
      // Closing has begun and not ended.
      usleep(100_000)
      graph.program.signal(SIGSTOP)
      usleep(3_000_000)
      graph.program.signal(SIGCONT)
      #expect(try waitUntil(seconds: 3) { try graph.status()["server"] as? String == "gone" })
      usleep(1_000_000)
      #expect(graph.program.isRunning, "\(graph.program.errorText)")
      try graph.restartServer()
      #expect(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "running" })
    }

    @Test(
      "run --wait keeps waiting when a server refuses clients at first",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the refusing libjack"))
    func refusesAtFirst() throws {
      let home = try PinnaHome()
      let graph = try LiveGraph(
        preset: "phone5", home: home, options: ["--wait", "60"],
        environment: try Preload.environment(Self.lateOpen, home: home))
      #expect(try graph.status()["server"] as? String == "running")
    }

    @Test(
      "without --wait, a server's refusal is explained in words",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the refusing libjack"))
    func refusalInWords() throws {
      let home = try PinnaHome()
      let program = try home.start(
        ["--server", LiveGraph.uniqueName()], try Preload.environment(Self.lateOpen, home: home))
      let end = try #require(program.wait(seconds: 20))
      #expect(end.status == 1 && end.isOneSentence, "\(end)")
      #expect(!end.error.contains("status 33") && end.error.contains("the server"), "\(end)")
    }

    @Test("run --wait ends at once when another client has the name")
    func nameTaken() throws {
      let graph = try LiveGraph(preset: "phone5")
      let second = try PinnaHome()
      let program = try second.start(["--server", graph.server.name, "--wait", "60"])
      let end = try #require(program.wait(seconds: 20), "it still waits")
      #expect(end.status == 1 && end.error.contains("--name"), "\(end)")
    }

    @Test("a change of device in freewheel does not delay the server")
    func deviceInFreewheel() throws {
      let graph = try LiveGraph(preset: "phone5")
      // Puts both designs into the cache.
      for preset in ["ring7", "phone5"] { try #require(try graph.pinna("preset", "use", preset).status == 0) }
      let player = try graph.player(GraphTests.loop, repeats: true)
      player.start()
      var longest = Duration.zero
      try graph.freewheel {
        for preset in ["ring7", "phone5", "ring7"] {
          let change = try Program(
            PinnaHome.binary(), ["preset", "use", preset], environment: graph.home.environment)
          var (frames, since) = (player.framesPlayed, ContinuousClock.now)
          let end = ContinuousClock.now + .seconds(3)
          while .now < end {
            usleep(10_000)
            if player.framesPlayed != frames { (frames, since) = (player.framesPlayed, .now) }
            longest = max(longest, .now - since)
          }
          #expect(change.wait(seconds: 20)?.status == 0)
        }
      }
      #expect(longest < .seconds(2), "the server stood still for \(longest)")
      withExtendedLifetime(player) {}
    }
  }
}
