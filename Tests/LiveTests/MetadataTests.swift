import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("JACK's metadata") struct MetadataTests {
    @Test(
      "between tests the database is removed, but not while a server uses it",
      .enabled(if: !LockedMetadata.isServerRunning, "another JACK server shares this /dev/shm"))
    func removal() throws {
      func exists() -> Bool { FileManager.default.fileExists(atPath: LockedMetadata.database) }
      let graph = try LiveGraph(preset: "phone5")
      try Self.label("pinna:out_left", in: graph)
      try #require(exists())
      LockedMetadata.remove()
      #expect(exists())
      try #require(try graph.pinna("stop").status == 0)
      withExtendedLifetime(graph) {}
    }

    private static func label(
      _ port: String, in graph: LiveGraph, environment: [String: String] = [:]
    ) throws {
      _ = try Program.run(
        "/usr/bin/jack_property", ["-p", "-s", port, "http://pinna/test", "text"],
        environment: graph.jackEnvironment.merging(environment) { $1 })
    }

    /// Every function of libjack that writes metadata leaves a mark instead.
    private static let marking = """
      #include <fcntl.h>
      #include <stdlib.h>
      #include <unistd.h>
      static int mark(void) {
        close(open(getenv("PINNA_TEST_MARK"), O_WRONLY | O_CREAT, 0600));
        return -1;
      }
      int jack_set_property(void) { return mark(); }
      int jack_remove_property(void) { return mark(); }
      int jack_remove_properties(void) { return mark(); }
      int jack_remove_all_properties(void) { return mark(); }
      """

    @Test(
      "R30: Pinna never writes JACK's metadata",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the library that notices writes"))
    func neverWritten() throws {
      let home = try PinnaHome()
      let mark = home.folder.path + "/mark"
      let preload = try Preload.environment(Self.marking, home: home).merging(["PINNA_TEST_MARK": mark]) {
        $1
      }
      let graph = try LiveGraph(preset: "phone5", synchronous: true, home: home, environment: preload)
      let path = try graph.startTake(frames: 14_400)
      try graph.stopTake(path)
      try #require(try graph.pinna("preset", "use", "ring7").status == 0)
      #expect(!FileManager.default.fileExists(atPath: mark))
      // A program that writes is noticed.
      try Self.label("pinna:out_left", in: graph, environment: preload)
      try #require(FileManager.default.fileExists(atPath: mark))
      try FileManager.default.removeItem(atPath: mark)
      #expect(try graph.pinna("stop").status == 0)
      #expect(graph.program.wait(seconds: 10)?.status == 0)
      let isKept = !FileManager.default.fileExists(atPath: mark)
      #expect(isKept)
      Faults.report(
        "R30", done: "run, take, change of device, stop: writes to JACK's metadata",
        measured: isKept ? "0" : "some", limit: "0", kept: isKept)
    }
  }
}
