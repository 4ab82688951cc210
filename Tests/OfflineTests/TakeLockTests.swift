import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  @Suite(
    "Takes on a file system without locks",
    .enabled(if: Preload.compiler != nil, "there is no C compiler for the file system without locks"))
  struct TakeLockTests {
    /// NFS without its lock service.
    static let source = """
      #include <errno.h>
      #include <stdio.h>
      #include <string.h>
      #include <sys/file.h>
      #include <sys/syscall.h>
      #include <unistd.h>
      int flock(int file, int operation) {
        char link[64], path[4096] = {0};
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        if (readlink(link, path, sizeof path - 1) < 0 || !strstr(path, "/music/"))
          return syscall(SYS_flock, file, operation);
        errno = ENOLCK;
        return -1;
      }
      """

    @Test("R6: a take without locks says so and is repaired only where locks show that nobody writes it")
    func noLocks() throws {
      let home = try PinnaHome()
      let environment = try Preload.environment(Self.source, home: home)
      let graph = try OfflineGraph(
        preset: "phone5", period: 1024, home: home, environment: environment)
      let notes = try graph.stopTake(graph.startTake()).notes.filter {
        !$0.contains("connected")
      }
      #expect(notes.count == 1 && notes[0].contains("cannot be locked (No locks available)"), "\(notes)")

      let path = try graph.startTake(frames: 48_000)
      graph.program.signal(SIGKILL)
      #expect(graph.program.wait(seconds: 5)?.status == -SIGKILL)
      let refused = try Program.run(
        PinnaHome.binary(), ["takes", "repair"], environment: home.environment.merging(environment) { $1 })
      #expect(refused.status == 1 && refused.isOneSentence, "\(refused)")
      #expect(refused.error.contains("cannot be locked") && refused.error.contains("another disk"))
      #expect(access(path + ".part", F_OK) == 0 && access(path, F_OK) != 0)
      #expect(try graph.pinna("takes", "repair").status == 0)
      #expect(access(path, F_OK) == 0)
    }
  }
}
