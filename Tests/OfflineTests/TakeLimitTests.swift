import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  /// Limits that an administrator or a shell's `ulimit` sets, here while Pinna runs.
  @Suite(
    "R44: Takes under resource limits",
    .enabled(if: access("/usr/bin/prlimit", X_OK) == 0, "there is no prlimit"))
  struct TakeLimitTests {
    func limit(_ graph: OfflineGraph, _ resource: String, to value: String) throws {
      let outcome = try Program.run(
        "/usr/bin/prlimit", ["--pid", "\(graph.program.pid)", "--\(resource)=\(value):"])
      try #require(outcome.status == 0, "\(outcome)")
    }

    /// A value in /proc/PID/status, in bytes.
    func memory(_ graph: OfflineGraph, _ key: String) throws -> Int {
      let text = try String(contentsOfFile: "/proc/\(graph.program.pid)/status", encoding: .utf8)
      let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(key) })
      return 1024 * (try #require(Int(line.split(whereSeparator: \.isWhitespace)[1])))
    }

    func fault(_ graph: OfflineGraph) throws -> String? {
      ((try? graph.status())?["take"] as? [String: Any])?["fault"] as? String
    }

    @Test("R44: a take at the file size limit keeps what fitted, sound goes on, and both statuses are 7")
    func fileSize() throws {
      let graph = try OfflineGraph(preset: "phone5", period: 1024)
      let path = try graph.startTake()
      // Seconds of five microphones, and half as many of two outputs.
      try limit(graph, "fsize", to: "1000000")
      try #require(waitUntil(seconds: 15) { try !graph.program.isRunning || fault(graph) != nil })
      try #require(graph.program.isRunning, "\(graph.program.wait(seconds: 1)!)")
      #expect(try fault(graph)?.contains("File too large") == true)
      let load = try graph.status()["dspLoad"] as? Double
      #expect(load != nil)
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 7 && stop.isOneSentence && stop.error.contains("File too large"), "\(stop)")
      let files = [path, path.replacing(".wav", with: "-microphones.wav")]
      let frames = try AudioClip(path: files[0]).frames
      #expect(frames > 45_000 && frames <= 50_000, "\(frames)")
      for file in files {
        #expect(try TakeFiles.complaints(file) == [])
        #expect(try AudioClip(path: file).frames == frames)
      }
      #expect(try TakeFiles.sidecar(path).state == .incomplete)
      #expect(try graph.pinna("stop").status == 0)
      #expect(graph.program.wait(seconds: 5)?.status == 7)
      Faults.report(
        "R44", done: "file size limited to 1 MB during a take: status 7 twice, frames kept in step",
        measured: "\(frames)", limit: "45000 to 50000", kept: (45_000...50_000).contains(frames))
    }

    @Test(
      "R44: too little memory for a take's ring or thread is refused in a sentence, and the next take records",
      arguments: [16, 3])
    func memoryAtStart(megabytes: Int) throws {
      let graph = try OfflineGraph(preset: "phone5", period: 1024)
      try limit(graph, "as", to: "\(try memory(graph, "VmSize") + (megabytes << 20))")
      let start = try graph.pinna("record", "start", "--raw")
      #expect(start.status == 1 && start.isOneSentence && start.error.contains("memory"), "\(start)")
      try #require(graph.program.isRunning, "\(graph.program.wait(seconds: 1)!)")
      #expect(try graph.status()["state"] as? String == "stopped")
      let names = (try? FileManager.default.contentsOfDirectory(atPath: graph.home.takesFolder)) ?? []
      #expect(names.isEmpty, "\(names)")
      try limit(graph, "as", to: "unlimited")
      try graph.stopTake(graph.startTake())
      Faults.report(
        "R44", done: "memory limited to \(megabytes) MB more at the start of a take: status",
        measured: "\(start.status)",
        limit: "1", kept: start.status == 1)
    }

    @Test("R44: a device whose pre-roll does not fit into memory is refused, and sound goes on")
    func memoryForPreRoll() throws {
      // The pre-roll takes 80 MB.
      let graph = try OfflineGraph(preset: "phone5", options: ["--pre-roll", "60"])
      try limit(graph, "as", to: "\(try memory(graph, "VmSize") + (60 << 20))")
      let change = try graph.pinna("preset", "use", "phone4")
      try #require(graph.program.isRunning, "\(graph.program.wait(seconds: 1)!)")
      #expect(change.status == 1, "\(change)")
      #expect(change.error.contains("not enough memory for a pre-roll of 60 s"), "\(change)")
      #expect(try graph.status()["preset"] as? String == "phone5")
      try limit(graph, "as", to: "unlimited")
      #expect(try graph.pinna("preset", "use", "phone4").status == 0)
      Faults.report(
        "R44", done: "memory limited to 60 MB more than there is: another device's pre-roll, status",
        measured: "\(change.status)", limit: "1", kept: change.status == 1)
    }

    @Test("R44: without free descriptors, a take continues in its current file and says so")
    func descriptors() throws {
      let graph = try OfflineGraph(preset: "phone5", period: 1024)
      // A segment of five microphones lasts a second.
      let path = try graph.startTake("--split-size", "1")
      // A connection that stays takes the number that the command's has left. Otherwise the take's descriptors would be
      // above the limit, and those that it closes could not be opened again.
      let sender = try graph.sender()
      sender.send("/pinna/status")
      try #require(sender.reply(seconds: 5)?.status == 0)
      defer { withExtendedLifetime(sender) {} }
      // Open descriptors stay open; the next one would have the lowest free number.
      let open = Set(
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(graph.program.pid)/fd").compactMap(
          Int.init))
      let free = try #require((0...).first { !open.contains($0) })
      try limit(graph, "nofile", to: "\(free)")
      // No request that needs an answer: a reply takes a descriptor, too.
      try graph.wait(frames: 144_000)
      try graph.sender().send("/pinna/record/stop")
      try #require(waitUntil(seconds: 5) { access(path.replacing(".wav", with: ".json"), F_OK) == 0 })
      let document = try TakeFiles.sidecar(path)
      #expect(document.state == .complete && document.missing.isEmpty, "\(document.missing)")
      try limit(graph, "nofile", to: "1024")
      #expect(try graph.status()["state"] as? String == "stopped")
      #expect(document.notes.contains { $0.contains("Too many open files") }, "\(document.notes)")
      #expect(document.files.count < 3 && document.frames > 100_000)
      for files in document.files {
        for name in files.names {
          let file = "\(graph.home.takesFolder)/\(name)"
          #expect(try AudioFileReader(path: file).frames == files.frames)
          #expect(try TakeFiles.complaints(file) == [])
        }
      }
      Faults.report(
        "R44", done: "no descriptor left during a take that is to be split: whole, frames",
        measured: "\(document.frames)",
        limit: "> 100000", kept: document.frames > 100_000)
    }

    @Test("R44: a take continues and is finished at the memory limit")
    func memoryDuring() throws {
      let graph = try OfflineGraph(preset: "phone5", period: 1024)
      let path = try graph.startTake(frames: 96_000)
      try limit(graph, "as", to: "\(try memory(graph, "VmSize"))")
      try graph.wait(frames: 192_000)
      try #require(graph.program.isRunning, "\(graph.program.wait(seconds: 1)!)")
      let document = try graph.stopTake(path)
      #expect(document.frames > 5 * 48_000)
      Faults.report(
        "R44", done: "no memory left during a take: whole, frames", measured: "\(document.frames)",
        limit: "> 240000", kept: document.frames > 240_000)
      // No thread can be created to close the client. Pinna notices at once and does not wait for it.
      let asked = ContinuousClock.now
      graph.program.signal(SIGTERM)
      let end = try #require(graph.program.wait(seconds: 10))
      let took = ContinuousClock.now - asked
      #expect(end.status == 0 && took < .seconds(1), "\(end), \(took)")
    }
  }
}
