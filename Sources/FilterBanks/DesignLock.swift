import AudioFiles
import FoundationEssentials
import Glibc
import Numerics
import Synchronization
import Text
import Threads

/// The lock of a design that goes into the cache: `NAME.lock` beside the files that it will have. Others that want the same
/// filters wait for them, in this process or in another. Deinitialisation releases it, and the kernel, however its holder ends.
///
/// Thread: any that may wait.
package final class DesignLock {
  private let descriptor: Int32
  private let path: String

  private static let tell = Mutex<(@Sendable (String) -> Void)?>(nil)

  /// Has `tell` called with one sentence by each thread that waits for filters that another process is designing.
  package static func onWaiting(_ tell: @escaping @Sendable (String) -> Void) {
    Self.tell.withLock { $0 = tell }
  }

  /// How often a lock that is held is tried again, in microseconds.
  private static let interval: UInt32 = 50_000
  /// How long a holder is waited for: one that was stopped, with SIGSTOP, holds its lock for ever. Then the filters are designed
  /// here, too, before those who wait for this design give up (`ProcessorState`, ten minutes).
  private static let patience = Duration.seconds(120)

  private init(_ descriptor: Int32, _ path: String) {
    (self.descriptor, self.path) = (descriptor, path)
    ftruncate(descriptor, 0)
    Descriptor.writeAll("\(getpid())\n".utf8, to: descriptor)
  }

  deinit {
    // Before others can have it: they see that it is no longer the file of that name.
    if Self.isFile(descriptor, at: path) { unlink(path) }
    close(descriptor)
  }

  /// - Parameter path: of its file; its folder is made.
  /// - Returns: nil if there cannot be a lock there, or its holder had it for too long.
  /// - Throws: `DesignError.cancelled` if `cancellation` ended the wait.
  static func acquire(_ path: String, cancellation: DesignCancellation?) throws(DesignError) -> DesignLock? {
    try? FileManager.default.createDirectory(
      atPath: path.deletingLastPathComponent, withIntermediateDirectories: true)
    let end = ContinuousClock.now + patience
    var rounds = 0
    while .now < end {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
      guard descriptor >= 0 else { return nil }
      let outcome = FileLock.acquire(descriptor)
      if outcome == .acquired, isFile(descriptor, at: path) { return DesignLock(descriptor, path) }
      // A holder has written by the second round who it is.
      if outcome == .held, rounds == 1 { tellHolder(descriptor) }
      close(descriptor)
      if case .unavailable = outcome { return nil }
      guard outcome == .held else { continue }
      rounds += 1
      if cancellation?.isCancelled == true { throw .cancelled }
      usleep(interval)
    }
    return nil
  }

  /// Removes the file of a holder that was killed.
  static func removeIfFree(_ path: String) {
    let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    if FileLock.acquire(descriptor) == .acquired, isFile(descriptor, at: path) { unlink(path) }
    close(descriptor)
  }

  private static func isFile(_ descriptor: Int32, at path: String) -> Bool {
    var (own, other) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && stat(path, &other) == 0 && own.isSameFile(as: other)
  }

  private static func tellHolder(_ descriptor: Int32) {
    let text = Descriptor.readAll(descriptor, limit: 16).map { String(decoding: $0, as: UTF8.self) }
    let pid = text.flatMap { Int32($0.trimmed(lines: true)) }
    // Another thread of this process.
    if pid == getpid(), has(getpid(), locked: descriptor) { return }
    guard let tell = tell.withLock(\.self) else { return }
    let holder = pid.flatMap { has($0, locked: descriptor) ? process($0) : nil } ?? "another process"
    tell("waiting for the filters that \(holder) is designing")
  }

  /// Whether a process holds the file's lock, as the kernel has it. The number in the file may be of a process that has ended,
  /// of another machine or container, or of none.
  private static func has(_ pid: Int32, locked descriptor: Int32) -> Bool {
    var own = stat()
    let folder = "/proc/\(pid)/fd"
    guard pid > 0, fstat(descriptor, &own) == 0,
      let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
    else { return false }
    return names.contains {
      var other = stat()
      return stat("\(folder)/\($0)", &other) == 0 && own.isSameFile(as: other)
        && SmallFile.text("/proc/\(pid)/fdinfo/\($0)", limit: 4096)?.contains("FLOCK") == true
    }
  }

  /// "process 1234 (pinna run)"
  private static func process(_ pid: Int32) -> String {
    let words = (SmallFile.text("/proc/\(pid)/cmdline", limit: 4096) ?? "").split(separator: "\0").map {
      String($0)
    }
    guard let program = words.first?.split(separator: "/").last.map(String.init) else {
      return "process \(pid)"
    }
    // The words of other programs may be anything.
    let verb = words.dropFirst().first.map { program == "pinna" && !$0.hasPrefix("-") ? " \($0)" : "" } ?? ""
    return "process \(pid) (\((program + verb).printable(limit: 40)))"
  }
}

extension stat {
  fileprivate func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }
}
