import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Takes on a file system without links") struct PoorFileSystemTests {
    /// A file system that supports neither rename without replacement nor hard links.
    static let source = """
      #include <errno.h>
      #include <sys/syscall.h>
      #include <unistd.h>
      int renameat2(int from, const char *name, int to, const char *other, unsigned flags) {
        if (flags) {
          errno = EINVAL;
          return -1;
        }
        return (int)syscall(SYS_renameat2, from, name, to, other, 0u);
      }
      int linkat(int from, const char *name, int to, const char *other, int flags) {
        errno = EPERM;
        return -1;
      }
      """

    @Test(
      "takes get their final names and replace no existing file",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the limited file system"))
    func named() throws {
      let home = try PinnaHome()
      let graph = try OfflineGraph(
        preset: "phone5", home: home,
        environment: try Preload.environment(Self.source, home: home))
      for isTaken in [false, true] {
        let path = try graph.startTake(frames: 4800)
        if isTaken { try Data("mine".utf8).write(to: URL(filePath: path)) }
        let outcome = try graph.pinna("record", "stop")
        #expect(outcome.status == (isTaken ? 7 : 0), "\(outcome)")
        #expect((access(path + ".part", F_OK) == 0) == isTaken)
        if isTaken { #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine") }
      }
    }
  }
}
