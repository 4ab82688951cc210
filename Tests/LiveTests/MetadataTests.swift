import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("JACK's metadata") struct MetadataTests {
    /// A JACK client that stops in the middle of writing a label, with a page of the database locked. It
    /// recognises the moment by the text that libdb copies into the page.
    static let holder = """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <jack/jack.h>
      #include <jack/metadata.h>
      #include <jack/uuid.h>
      #include <signal.h>
      #include <string.h>
      #include <unistd.h>
      static const char mark[] = "PINNA-STOPS-HERE";
      void *memcpy(void *to, const void *from, size_t count) {
        volatile char *a = to;
        const char *b = from;
        Dl_info caller;
        int is_mark = count > sizeof mark;
        for (size_t n = 0; is_mark && n < sizeof mark - 1; n++) is_mark = b[n] == mark[n];
        if (is_mark && dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libdb")) raise(SIGSTOP);
        for (size_t n = 0; n < count; n++) a[n] = b[n];
        return to;
      }
      int main(int count, char **words) {
        jack_status_t status;
        jack_client_t *client = jack_client_open("holder", JackNoStartServer | JackServerName, &status, words[1]);
        if (!client) return 1;
        jack_port_t *port = jack_port_register(client, "x", JACK_DEFAULT_AUDIO_TYPE, JackPortIsInput, 0);
        jack_set_property(client, jack_port_uuid(port), "http://pinna/test", "PINNA-STOPS-HERE-with-a-page", "text/plain");
        jack_client_close(client);
        return 0;
      }
      """

    @Test(
      "between tests the database is removed, but not while a server uses it",
      .enabled(if: !LockedMetadata.isServerRunning, "another JACK server shares this /dev/shm"))
    func removal() throws {
      func exists() -> Bool { FileManager.default.fileExists(atPath: LockedMetadata.database) }
      try withExtendedLifetime(LiveGraph(preset: "phone5")) {
        try #require(waitUntil(seconds: 10) { exists() }, "no labels were written")
        LockedMetadata.remove()
        #expect(exists())
      }
      LockedMetadata.remove()
      #expect(!exists())
    }

    func state(_ program: Program) -> Character? {
      (try? String(contentsOfFile: "/proc/\(program.pid)/stat", encoding: .utf8))?.split(separator: ")").last?
        .dropFirst().first
    }

    @Test(
      "R30: start, run and stop work while a stopped process holds JACK's metadata database",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the program that holds the database"),
      .enabled(
        if: getuid() == 0,
        "only root can give the test its own /dev/shm: all programs share the database"))
    func heldDatabase() throws {
      let home = try PinnaHome()
      let code = try home.folder.write(Self.holder, to: "holder.c")
      let binary = home.folder.path + "/holder"
      let built = try Program.run(
        Preload.compiler!,
        ["-O1", "-fno-builtin", "-rdynamic", "-D_FORTIFY_SOURCE=0", "-o", binary, code, "-ljack", "-ldl"])
      try #require(built.status == 0, "\(built)")
      // A private /dev/shm with a server and a database of its own: a program that dies while it waits leaves
      // the database locked for good.
      let space = try Program(
        "/usr/bin/unshare",
        ["-m", "sh", "-c", "mount -t tmpfs none /dev/shm && echo there && exec sleep 600"])
      defer { space.stop() }
      func inside(_ words: [String]) throws -> Program {
        try Program("/usr/bin/nsenter", ["-m", "-t", "\(space.pid)"] + words, environment: home.environment)
      }
      try #require(
        waitUntil(seconds: 5) {
          (try? Program.run("/usr/bin/nsenter", ["-m", "-t", "\(space.pid)", "mountpoint", "/dev/shm"]))?
            .status == 0
        })
      let name = LiveGraph.uniqueName()
      let server = try inside([
        "/usr/bin/jackd", "-S", "-n", name, "-r", "-p", "128", "-d", "dummy", "-p", "1024",
      ])
      defer {
        LiveGraph.endLabelProcess(name)
        server.signal(SIGKILL)
      }
      try #require(
        try waitUntil(seconds: 10) {
          try inside(["/usr/bin/jack_lsp", "-s", name]).wait(seconds: 5)?.status == 0
        })
      let holder = try inside([binary, name])
      defer { holder.signal(SIGKILL) }
      try #require(waitUntil(seconds: 10) { state(holder) == "T" }, "\(holder.errorText)")

      let began = ContinuousClock.now
      let pinna = try inside([PinnaHome.binary(), "run", "--server", name, "--preset", "phone5"])
      defer { pinna.signal(SIGKILL) }
      try #require(
        try waitUntil(seconds: 20) { try home.pinna("set", "--gain", "-1").status == 0 }, "\(pinna.errorText)"
      )
      let started = ContinuousClock.now - began
      let path = try #require(try home.pinna("record", "start", "--json").json()["take"] as? String)
      try home.waitForTake(frames: 48_000)
      try #require(
        try waitUntil(seconds: 10) { try home.pinna("status").output.contains("metadata") },
        "nobody is told of the database")
      let stop = try home.pinna("record", "stop")
      try #require(stop.status == 0, "\(stop)")
      #expect(FileManager.default.fileExists(atPath: path))
      let warnings = try home.pinna("status", "--json").json()["warnings"] as? [String] ?? []
      #expect(warnings.count { $0.contains("metadata") } == 1)
      let asked = ContinuousClock.now
      #expect(try home.pinna("stop").status == 0)
      let end = try #require(pinna.wait(seconds: 10), "pinna does not end")
      let stopped = ContinuousClock.now - asked
      #expect(end.status == 0, "\(end)")
      #expect(started < .seconds(5) && stopped < .seconds(3), "\(started), \(stopped)")
      Faults.report(
        "R30", done: "metadata database held by a stopped process: start, take, stop", took: stopped,
        limit: .seconds(3))
    }

    @Test(
      "R30: metadata calls that hang in libjack delay nobody",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the hanging libjack"),
      arguments: ["jack_set_property", "jack_get_property"])
    func hangingCalls(_ function: String) throws {
      let home = try PinnaHome()
      let preload = try Preload.environment(
        "#include <unistd.h>\nint \(function)(void *client) { (void)client; for (;;) pause(); }\n", home: home
      )
      let graph = try LiveGraph(preset: "phone5", synchronous: true, home: home, environment: preload)
      let path = try graph.startTake()
      try graph.waitForTake(frames: 14_400)
      try graph.stopTake(path)
      let took = try ContinuousClock().measure {
        let answer = try graph.pinna("preset", "use", "ring7")
        try #require(answer.status == 0, "\(answer)\n\(graph.program.errorText)")
      }
      #expect(took < Faults.patience(.seconds(1)))
      // Otherwise nothing hangs, and this test shows nothing.
      try #require(
        try waitUntil(seconds: 10) { try graph.pinna("status").output.contains("metadata") },
        "\(function) is not called")
      let asked = ContinuousClock.now
      #expect(try graph.pinna("stop").status == 0)
      let end = try #require(graph.program.wait(seconds: 10), "pinna does not end")
      let stopped = ContinuousClock.now - asked
      #expect(end.status == 0 && stopped < .seconds(3), "\(end), \(stopped)")
      Faults.report("R30", done: "\(function) hangs: stop", took: stopped, limit: .seconds(3))
    }
  }
}
