import FoundationEssentials
import Glibc
import Text
import Threads

/// What the disk of the takes can do.
public struct DiskState: Sendable {
  /// The folder for takes, or the nearest above it that exists.
  public var folder: String
  /// In bytes.
  public var free: Double
  /// Bytes per second; nil if nothing was written in time.
  public var speed: Double?
  /// Why nothing can be written; nil if it can.
  public var obstacle: String?

  public init(folder: String, free: Double, speed: Double?, obstacle: String? = nil) {
    self.folder = folder
    self.free = free
    self.speed = speed
    self.obstacle = obstacle
  }

  /// In bytes.
  private static let trial = 32 << 20

  /// Writes 32 MB into a file without a name in the folder for takes, or in the nearest folder above it that exists.
  /// - Parameters:
  ///   - patience: how long a disk may take; the thread of one that hangs is left behind.
  ///   - folder: names the folder, and may wait for the disk.
  /// - Returns: nil if the disk did not even say how much room it has.
  public static func measured(
    within patience: Duration = .seconds(5), folder: @escaping @Sendable () -> String
  ) -> DiskState? {
    let state = Locked<DiskState?>(nil)
    let isDone = Latch()
    let started: Void? = try? BackgroundThread.start("pinna disk") {
      measure(nearest(folder()), until: .now + patience) { measured in state.withLock { $0 = measured } }
      isDone.open()
    }
    guard started != nil else { return nil }
    _ = isDone.wait(for: patience + .milliseconds(500))
    return state.withLock { $0 }
  }

  private static func nearest(_ folder: String) -> String {
    var folder = folder
    while folder.count > 1, access(folder, F_OK) != 0 {
      folder = folder.deletingLastPathComponent
    }
    return folder
  }

  private static func measure(
    _ folder: String, until end: ContinuousClock.Instant, _ report: (DiskState) -> Void
  ) {
    var information = statvfs()
    guard statvfs(folder, &information) == 0 else {
      return report(
        DiskState(
          folder: folder, free: 0, speed: nil, obstacle: "\(folder): \(String(cString: strerror(errno)))"))
    }
    var state = DiskState(
      folder: folder, free: Double(information.f_bavail) * Double(information.f_frsize), speed: nil)
    report(state)
    // Removed at once, so that nothing is left however this process ends.
    let path = "\(folder)/.pinna-doctor-\(getpid())"
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      state.obstacle = "\(folder): \(String(cString: strerror(errno)))"
      return report(state)
    }
    defer { close(file) }
    unlink(path)
    state.speed = write(to: file, until: end)
    if state.speed == nil, ContinuousClock.now < end {
      state.obstacle = "\(folder): \(String(cString: strerror(errno)))"
    }
    report(state)
  }

  /// - Returns: bytes per second, with what has to reach the disk; nil if that failed.
  private static func write(to file: Int32, until end: ContinuousClock.Instant) -> Double? {
    // Not zeros, which some file systems do not store.
    let block = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
    let start = ContinuousClock.now
    var written = 0
    while written < trial, ContinuousClock.now < end {
      let count = Glibc.write(file, block, block.count)
      guard count > 0 else { return nil }
      written += count
    }
    guard fdatasync(file) == 0 else { return nil }
    return Double(written) / (ContinuousClock.now - start).seconds
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}

extension DiskState {
  /// 64 microphones in 32-bit float at 48 kHz, in bytes per second.
  private static let most = 64.0 * 4 * 48_000
  /// Left and right, and five microphones.
  private static let least = 7.0 * 4 * 48_000

  /// The findings for the folder of takes. `state` is nil for a disk that does not answer.
  public static func findings(_ state: DiskState?) -> [Finding] {
    guard let state else {
      return [
        .fault(
          "disk for takes", "it does not answer", because: "takes would be incomplete",
          remedy: "check the disk or the network behind it, or record elsewhere with --dir")
      ]
    }
    return [state.speedFinding, state.roomFinding]
  }

  private var speedFinding: Finding {
    let subject = "disk for takes"
    let remedy = "record on a faster disk with --dir"
    if let obstacle {
      return .fault(
        subject, "cannot write: \(obstacle)", because: "no take can be recorded there",
        remedy: "choose another with --dir")
    }
    guard let speed else {
      return .fault(
        subject, "\(folder) takes longer than 5 s for 32 MB", because: "takes would be incomplete",
        remedy: remedy)
    }
    let found = "\(Self.megabytes(speed)) MB/s"
    let need = "64 raw microphones at 48 kHz need \(Self.megabytes(Self.most)) MB/s"
    if speed < Self.least {
      return .fault(
        subject, found, because: "a take with five raw microphones needs 1.3 MB/s", remedy: remedy)
    }
    if speed < 2 * Self.most {
      return .warning(subject, found, because: "\(need), and a disk is not always as fast", remedy: remedy)
    }
    return .ok(subject, "\(found); \(need)")
  }

  private var roomFinding: Finding {
    let subject = "room for takes"
    let hours = free / (2 * 4 * 48_000 * 3600)
    let found =
      "\(Self.megabytes(free)) MB in \(folder): \((hours * 10).rounded() / 10) hours of left and right at 48 kHz"
    guard free >= 2e9 else {
      let finding = free < 100e6 ? Finding.fault : Finding.warning
      return finding(
        subject, found, "a take ends when the disk is full", "remove files, or record elsewhere with --dir")
    }
    return .ok(subject, found)
  }

  /// With one decimal below 100.
  private static func megabytes(_ bytes: Double) -> String {
    let value = bytes / 1e6
    return value < 100 ? "\((value * 10).rounded() / 10)" : "\(Int(value))"
  }
}
