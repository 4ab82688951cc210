import Foundation
import TestSupport
import Testing
import Threads

/// Child processes, and files and pipes read whole.
@Suite("Child processes") struct ChildProcessTests {
  private func output(_ command: String, environment: [String: String]? = nil, input: Int32? = nil) throws
    -> String
  {
    let pipe = try #require(PipeEnds())
    let process = try ChildProcess(
      "/bin/sh", ["-c", command], environment: environment, input: input, output: pipe.writing)
    pipe.closeWriting()
    let bytes = try #require(Descriptor.readAll(pipe.reading))
    #expect(process.waitUntilExit() == .exit(0))
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("arguments, environment, input and output are the child's, and nothing else")
  func surroundings() throws {
    #expect(try output("echo \"$A-$HOME\"", environment: ["A": "b c"]) == "b c-\n")
    setenv("PINNA_CHILD_TEST", "inherited", 1)
    #expect(try output("echo $PINNA_CHILD_TEST") == "inherited\n")
    let file = try #require(tmpfile())
    defer { fclose(file) }
    #expect(Descriptor.writeAll("a line\n".utf8, to: fileno(file)))
    rewind(file)
    #expect(try output("cat", input: fileno(file)) == "a line\n")
    #expect(try output("cat") == "", "/dev/null")
    // 0 to 2, and the folder that ls reads.
    #expect(try output("ls /proc/self/fd").split(separator: "\n") == ["0", "1", "2", "3"])
    // Its own process group, and no blocked signals.
    #expect(try output("ps -o pgid= -p $$ | tr -d ' ' | grep -qx $$ && echo own") == "own\n")
    let mask = try output("exec grep SigBlk /proc/self/status")
    #expect(mask.hasSuffix("\t0000000000000000\n"), "\(mask)")
  }

  @Test("the end is an exit status or a signal")
  func ends() throws {
    #expect(try ChildProcess("/bin/sh", ["-c", "exit 7"]).waitUntilExit() == .exit(7))
    #expect(try ChildProcess("/bin/sh", ["-c", "kill -HUP $$"]).waitUntilExit() == .signal(SIGHUP))
    let process = try ChildProcess("/bin/sleep", ["100"])
    #expect(process.isRunning)
    process.terminate()
    #expect(process.waitUntilExit() == .signal(SIGTERM))
    #expect(!process.isRunning && process.waitUntilExit() == .signal(SIGTERM))
    process.kill()
  }

  @Test("a missing program is an error that says so")
  func missing() {
    #expect {
      _ = try ChildProcess("/nowhere/program")
    } throws: {
      "\($0)" == "/nowhere/program cannot be started: No such file or directory"
    }
  }

  @Test("a child that nobody keeps runs on, and is reaped at its end")
  func forgotten() throws {
    let pid = try ChildProcess("/bin/sleep", ["0.2"]).pid
    #expect(kill(pid, 0) == 0)
    let end = ContinuousClock.now + .seconds(20)
    // A zombie would still be there.
    while kill(pid, 0) == 0, .now < end { usleep(5_000) }
    #expect(kill(pid, 0) != 0)
  }

  @Test("long output, files of /proc and limits are read as asked")
  func reading() throws {
    #expect(try output("head -c 1000000 /dev/zero").utf8.count == 1_000_000)
    let status = try #require(SmallFile.text("/proc/self/status"))
    #expect(status.contains("\nPid:\t\(getpid())\n"))
    #expect(try #require(SmallFile.text("/proc/self/maps")).utf8.count > 4096)
    #expect(SmallFile.text("/proc/self/status", limit: 5) == "Name:")
    #expect(SmallFile.text("/nowhere") == nil && SmallFile.text("/proc") == nil)
  }
}
