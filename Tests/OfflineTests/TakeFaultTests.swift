import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  /// Stalls need a server: `LiveTests`.
  @Suite("Folders of takes") struct TakeFaultTests {
    @Test(
      "R19: a takes folder with links, .. or names that are no folder is refused, and nothing is written"
    )
    func paths() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let folder = TakeFolder.resolve(graph.home.folder.path)
      try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "/etc")
      try graph.home.folder.write("", to: "file")
      mkfifo(folder + "/fifo", 0o600)
      let sender = try graph.sender()
      var refused = 0
      let hostile = ["/link", "/link/x", "/../x", "/file", "/fifo", "/a/../b"].map { folder + $0 }
      for path in hostile + ["relative", "/dev/null", "/proc/x", ""] {
        sender.send("/pinna/record/start", path)
        let reply = try #require(sender.reply(seconds: 5))
        #expect(reply.status == 1, "\(path): \(reply)")
        if reply.status == 1 { refused += 1 }
      }
      #expect(try graph.status()["state"] as? String == "stopped")
      #expect(!FileManager.default.fileExists(atPath: folder + "/a"))
      Faults.report(
        "R19", done: "links, .., files, FIFO, devices as takes folders: refused", measured: "\(refused)",
        limit: "\(hostile.count + 4)", kept: refused == hostile.count + 4)
      let odd = try graph.sender()
      odd.send("/pinna/record/start", "dir", folder, "raw")
      #expect(odd.reply(seconds: 5)?.status == 2)
      odd.send("/pinna/record/start", "speed", "2")
      #expect(odd.reply(seconds: 5)?.status == 2)
    }

    @Test(
      "R20: a read-only takes folder is refused before the take begins",
      .enabled(if: getuid() != 0 || Program.canMount, "root may write to any folder, and may not mount one"))
    func readOnly() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let folder = graph.home.folder.path + "/read-only"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      // Root may write to any folder, but not to a file system that is mounted read-only.
      let isRoot = getuid() == 0
      if isRoot {
        let mounted = try Program.run("/usr/bin/mount", ["-t", "tmpfs", "-o", "ro,size=1m", "none", folder])
        try #require(mounted.status == 0, "\(mounted)")
      } else {
        chmod(folder, 0o555)
      }
      defer {
        if isRoot { _ = try? Program.run("/usr/bin/umount", [folder]) } else { chmod(folder, 0o755) }
      }
      var refused = 0
      for path in [folder, folder + "/new"] {
        let outcome = try graph.pinna("record", "start", "--dir", path)
        #expect(outcome.status == 1 && outcome.isOneSentence && outcome.error.contains("--dir"), "\(outcome)")
        if outcome.status == 1 { refused += 1 }
      }
      let state = try graph.status()["state"] as? String
      #expect(state == "stopped")
      Faults.report(
        "R20", done: "takes folders that are read-only: refused before the take", measured: "\(refused)",
        limit: "2", kept: refused == 2 && state == "stopped")
    }
  }
}
