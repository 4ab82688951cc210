import AudioFiles
import Foundation
import LiveSupport
import Realtime
import Recording
import Synchronization
import TestSupport
import Testing

/// What other programs do to a take's files and folder while it runs.
extension TakeWriterTests {
  /// Starts a take and waits until `periods` periods of it are on disk.
  mutating func begin(_ writer: TakeWriter, periods: Int) throws {
    _ = try run.engine.beginTake(into: writer.opened())
    for _ in 0..<periods { run.process(Self.period) }
    try #require(waitUntil(seconds: 10) { writer.frames >= periods * Self.period })
  }

  mutating func end(_ writer: TakeWriter) throws -> TakeWriter.Result {
    _ = try run.engine.endTake()
    run.process(Self.period)
    return try writer.finished()
  }

  @Test("R6: another take's sidecar that names a running take's files never finalises them")
  mutating func craftedSidecar() throws {
    let writer = try writer()
    try begin(writer, periods: 50)
    let name = URL(filePath: writer.openPath).lastPathComponent
    let files = TakeFolder(path: folder.path)
    // An abandoned take whose second segment is the running take.
    try FileManager.default.copyItem(atPath: writer.openPath + ".part", toPath: folder.path + "/x.wav.part")
    var text = try String(
      contentsOfFile: writer.openPath.replacing(".wav", with: ".json.part"), encoding: .utf8)
    text = text.replacing(
      "\"files\" : [",
      with: """
        "files" : [ { "frame" : 0, "frames" : 64, "outputs" : "x.wav" },
        """)
    try folder.write(text, to: "x.json.part")
    #expect(try Sidecar.read(folder.path + "/x.json.part").files.map(\.outputs) == ["x.wav", name])
    let repaired = files.repair()
    #expect(access(writer.openPath, F_OK) != 0 && access(writer.openPath + ".part", F_OK) == 0)
    #expect(repaired.count == 1 && repaired[0].fault?.contains(name) == true, "\(repaired)")
    #expect(try end(writer).frames >= 50 * Self.period)
  }

  @Test("a take whose folder is renamed continues there with all segments, and reports the new path")
  mutating func movedFolder() throws {
    let real = TakeFolder.resolve(folder.path)
    try FileManager.default.createDirectory(atPath: real + "/a", withIntermediateDirectories: false)
    let writer = try writer(in: real + "/a") {
      $0.raw = false
      $0.splitMinutes = 1
    }
    try begin(writer, periods: 10)
    #expect(rename(real + "/a", real + "/b") == 0)
    run.process(Self.period, timing: .stall(90 * 48_000))
    let result = try end(writer)
    #expect(result.path.hasPrefix(real + "/b/") && result.sidecar.files.count == 2)
    #expect(result.frames == 11 * Self.period + 90 * 48_000)
    #expect(result.sidecar.missing.count == 1, "\(result.sidecar.missing)")
    let names = try FileManager.default.contentsOfDirectory(atPath: real + "/b").sorted()
    #expect(names.count == 3 && names.allSatisfy { !$0.contains(".part") }, "\(names)")
    #expect(result.sidecar.notes.contains { $0.contains("\(real)/b") })
  }

  @Test(
    "a take whose folder or file was removed says so within two seconds, suggests nothing impossible, and has the others",
    arguments: ["a"] + endings)
  mutating func removed(ending: String) throws {
    try startFeeds()
    let folder = TakeFolder.resolve(folder.path) + "/a"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let writer = try writer(Self.all, in: folder)
    try begin(writer, periods: 10)
    let path = ending == "a" ? folder : writer.openPath.replacing(".wav", with: ending + ".wav.part")
    // Removal fails while the disk thread creates a file in the folder.
    #expect(
      waitUntil(seconds: 2) { (try? FileManager.default.removeItem(atPath: path)) != nil },
      "\(path) cannot be removed")
    #expect(waitUntil(seconds: 2) { writer.loss?.contains("\(path) was removed") == true })
    let result = try end(writer)
    let fault = try #require(result.fault)
    #expect(fault.contains("\(path) was removed") && fault.contains("is lost"), "\(fault)")
    #expect(!fault.contains("takes repair") && !result.sentence.contains("(deleted)"), "\(result.sentence)")
    #expect(fault.components(separatedBy: "was removed").count == 2, "\(fault)")
    #expect(result.path == writer.openPath)
    for (other, source) in played() where ending != "a" && other != ending {
      let clip = try AudioClip(path: writer.openPath.replacing(".wav", with: other + ".wav"))
      #expect(differences(clip, source, 0..<10 * Self.period) == 0, "\(other)")
    }
  }

  @Test("a take whose file was replaced by a link is incomplete, says so, and does not rename the link")
  mutating func exchangedFile() throws {
    let writer = try writer()
    try begin(writer, periods: 10)
    #expect(rename(writer.openPath + ".part", folder.path + "/away") == 0)
    let secret = try folder.write("mine", to: "secret")
    #expect(symlink(secret, writer.openPath + ".part") == 0)
    let result = try end(writer)
    #expect(result.fault?.contains("\(writer.openPath).part") == true, "\(result)")
    var status = stat()
    #expect(lstat(writer.openPath + ".part", &status) == 0 && lstat(writer.openPath, &status) != 0)
    #expect(try String(contentsOfFile: secret, encoding: .utf8) == "mine")
  }

  @Test("16 takes that start in one folder at the same moment get different names")
  func sameSecond() throws {
    let folder = TakeFolder(path: TakeFolder.resolve(folder.path))
    let plan = TakePlan(
      outputs: 2, sampleRate: 48000, options: TakeOptions(), setup: Self.setup,
      preRoll: PreRoll(microphones: 3, capacityFrames: 0))
    let outcomes = Mutex<[Result<String, any Error>]>([])
    // With many files the search for a free name takes so long that all search before one has taken a name.
    for n in 0..<5000 { try self.folder.write("", to: "other-\(n)") }
    for _ in 0..<2 {
      DispatchQueue.concurrentPerform(iterations: 16) { _ in
        let outcome = Result {
          let writer = TakeWriter(folder: folder.path, plan: plan)
          let engine = Engine(microphones: 3, taps: 1, sampleRate: 48000)
          engine.prepare(period: Self.period)
          var run = OfflineRun(engine, microphones: [[], [], []])
          _ = try engine.beginTake(into: writer.opened())
          run.process(Self.period)
          writer.abandon()
          return try writer.finished().path
        }
        outcomes.withLock { $0.append(outcome) }
      }
    }
    let paths = outcomes.withLock { $0 }.compactMap { try? $0.get() }
    #expect(Set(paths).count == 2 * 16, "\(outcomes.withLock { $0 })")
  }

  @Test("a running take's sidecar is replaced as a whole: a reader never sees half of one")
  mutating func replacedSidecar() throws {
    let writer = try writer()
    try begin(writer, periods: 10)
    let path = writer.openPath.replacing(".wav", with: ".json.part")
    let held = try #require(FileHandle(forReadingAtPath: path))
    let before = try #require(try held.readToEnd())
    writer.note("something happened")
    try #require(waitUntil(seconds: 5) { (try? Data(contentsOf: URL(filePath: path))) != before })
    #expect(try Data(contentsOf: URL(filePath: path)) != before)
    try held.seek(toOffset: 0)
    let after = try held.readToEnd()
    #expect(after == before)
    _ = try self.end(writer)
  }

  /// Replaces this process's descriptor of `path` by one that is only readable or only writable.
  func reopen(_ path: String, _ access: Int32) throws {
    let other = open(path, access | O_CLOEXEC)
    try #require(other >= 0)
    defer { close(other) }
    var found = false
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      guard let number = Int32(name), number != other else { continue }
      var buffer = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/self/fd/\(name)", &buffer, buffer.count - 1)
      let target = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if target == path {
        found = true
        #expect(dup2(other, number) == number)
      }
    }
    #expect(found, "nobody has \(path) open")
  }

  @Test(
    "R6: a file whose header cannot be updated, or that cannot be read back, keeps its .part and says so, and repair finishes it",
    arguments: [("", O_RDONLY), ("-room", O_RDONLY), ("", O_WRONLY)])
  mutating func staleHeader(ending: String, access mode: Int32) throws {
    try startFeeds()
    let writer = try writer(Self.all)
    try begin(writer, periods: 10)
    let path = TakeFolder.resolve(writer.openPath.replacing(".wav", with: ending + ".wav") + ".part")
    try reopen(path, mode)
    let result = try end(writer)
    let fault = try #require(result.fault)
    #expect(access(String(path.dropLast(5)), F_OK) != 0 && access(path, F_OK) == 0)
    #expect(
      fault.contains(path.split(separator: "/").last!) && fault.contains("pinna takes repair"), "\(fault)")
    #expect(fault.contains("cannot be read back") == (mode == O_WRONLY), "\(fault)")
    #expect(TakeFolder(path: folder.path).takes().map(\.state) == [.cut])
    let repaired = TakeFolder(path: folder.path).repair()
    #expect(repaired.map(\.fault) == [nil] && repaired.map(\.frames) == [10 * Self.period])
    for (ending, source) in played() {
      #expect(
        try differences(AudioClip(path: stem(result) + ending + ".wav"), source, 0..<10 * Self.period) == 0)
    }
  }

  @Test("R44: the disk thread blocks SIGXFSZ, so that a file size limit is an error and no signal")
  mutating func fileSizeSignal() throws {
    // Test threads have signals blocked, which a new thread would inherit.
    var (empty, previous) = (sigset_t(), sigset_t())
    sigemptyset(&empty)
    pthread_sigmask(SIG_SETMASK, &empty, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
    let writer = try writer()
    let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
    let blocked = tasks.compactMap { task -> Bool? in
      guard let text = try? String(contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8),
        text.contains("Name:\tpinna disk\n"),
        let line = text.split(separator: "\n").first(where: { $0.hasPrefix("SigBlk:") }),
        let mask = UInt64(line.split(separator: "\t")[1], radix: 16)
      else { return nil }
      return mask & 1 << (UInt64(SIGXFSZ) - 1) != 0
    }
    #expect(!blocked.isEmpty && blocked.allSatisfy { $0 })
    writer.discard()
    _ = try writer.finished()
  }
}
