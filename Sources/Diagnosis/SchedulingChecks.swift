import Glibc
import Threads

/// What the system grants to this process: realtime scheduling, and memory that is never paged out.
public struct SchedulingRights: Sendable {
  /// The highest priority that the limits allow; 0 for none.
  public var priorityLimit: Int
  /// Whether a thread became a realtime thread.
  public var isRealtimeGranted: Bool
  /// In bytes; nil for no limit.
  public var lockLimit: Int?
  /// Whether `lockTrial` bytes could be locked.
  public var isLockGranted: Bool

  public init(priorityLimit: Int, isRealtimeGranted: Bool, lockLimit: Int?, isLockGranted: Bool) {
    self.priorityLimit = priorityLimit
    self.isRealtimeGranted = isRealtimeGranted
    self.lockLimit = lockLimit
    self.isLockGranted = isLockGranted
  }

  /// More than Pinna with 64 microphones has.
  static let lockTrial = 64 << 20

  /// Tries both. Takes some milliseconds.
  public static func measured() -> SchedulingRights {
    let lock = limit(__RLIMIT_MEMLOCK)
    return SchedulingRights(
      priorityLimit: limit(__RLIMIT_RTPRIO) ?? 99, isRealtimeGranted: becomesRealtime(), lockLimit: lock,
      isLockGranted: locks(lockTrial))
  }

  /// The soft limit; nil for none.
  private static func limit(_ resource: __rlimit_resource) -> Int? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return 0 }
    return limit.rlim_cur == rlim_t.max ? nil : Int(clamping: limit.rlim_cur)
  }

  private static func becomesRealtime() -> Bool {
    let (isGranted, isDone) = (Latch(), Latch())
    let started: Void? = try? BackgroundThread.start("pinna realtime") {
      var parameters = sched_param()
      // That of JACK's clients.
      parameters.sched_priority = 5
      if pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0 { isGranted.open() }
      isDone.open()
    }
    guard started != nil else { return false }
    _ = isDone.wait(for: .seconds(1))
    return isGranted.isOpen
  }

  private static func locks(_ bytes: Int) -> Bool {
    guard let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      memory != MAP_FAILED
    else { return false }
    defer { munmap(memory, bytes) }
    return mlock(memory, bytes) == 0
  }
}

extension SystemRoot {
  static let joinAudio =
    "echo '@audio - rtprio 95' | sudo tee -a /etc/security/limits.d/audio.conf, then sudo usermod -aG audio $USER, and log in again"
  private static let lockMore =
    "echo '@audio - memlock unlimited' | sudo tee -a /etc/security/limits.d/audio.conf, then sudo usermod -aG audio $USER, and log in again"

  /// Realtime priority, locked memory, rtkit and the processor's governor.
  /// - Parameter server: its clients may be realtime where this user's threads are refused it.
  public func scheduling(_ rights: SchedulingRights, _ server: ServerState) -> [Finding] {
    [realtime(rights, server), memoryLock(rights), rtkit(rights), governor()]
  }

  private func realtime(_ rights: SchedulingRights, _ server: ServerState) -> Finding {
    let subject = "realtime priority"
    if !rights.isRealtimeGranted, case .answers(_, _, .realtime) = server {
      return .ok(subject, "granted to the server's clients, as rtkit does; not to this user's threads")
    }
    guard rights.isRealtimeGranted else {
      return .fault(
        subject,
        rights.priorityLimit == 0
          ? "the system does not grant realtime scheduling to this user"
          : "the limit is \(rights.priorityLimit), but the system refuses realtime scheduling",
        because: "other programs then interrupt the sound: dropouts",
        remedy: Self.joinAudio)
    }
    let limit = rights.priorityLimit
    return .ok(subject, "granted" + (limit > 0 ? ", up to \(limit)" : ", without a limit for this user"))
  }

  private func memoryLock(_ rights: SchedulingRights) -> Finding {
    let subject = "locked memory"
    let limit = rights.lockLimit.map { "a limit of \($0 >> 10) kB" } ?? "no limit"
    let trial = SchedulingRights.lockTrial >> 20
    guard rights.isLockGranted else {
      return .warning(
        subject, "\(limit); \(trial) MB cannot be locked",
        because:
          "memory that is paged out comes back too late for the sound, when the machine is short of it",
        remedy: Self.lockMore)
    }
    return .ok(subject, "\(limit); \(trial) MB can be locked")
  }

  private func rtkit(_ rights: SchedulingRights) -> Finding {
    let subject = "rtkit"
    guard !exists("/usr/share/dbus-1/system-services/org.freedesktop.RealtimeKit1.service") else {
      return .ok(subject, "installed")
    }
    guard !rights.isRealtimeGranted else {
      return .ok(subject, "not installed, and not needed: realtime priority is granted without it")
    }
    return .warning(
      subject, "not installed",
      because: "without it, PipeWire gets no realtime priority from the desktop, either",
      remedy: "sudo apt-get install rtkit")
  }

  private func governor() -> Finding {
    let subject = "processor governor"
    let folder = "/sys/devices/system/cpu"
    let cores = names(folder).filter { $0.wholeMatch(of: #/cpu[0-9]+/#) != nil }
    let governors = cores.compactMap { text("\(folder)/\($0)/cpufreq/scaling_governor") }
    guard !governors.isEmpty else {
      return .ok(subject, "the system does not set the clock, as in a virtual machine")
    }
    let slow = Set(governors).subtracting(["performance", "schedutil"]).sorted()
    guard slow.isEmpty else {
      return .warning(
        subject,
        "\(slow.joined(separator: ", ")) on \(governors.count { slow.contains($0) }) of \(cores.count) cores",
        because: "a core whose clock rises only under load is late for the first periods of that load",
        remedy:
          "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
    }
    return .ok(subject, Set(governors).sorted().joined(separator: ", "))
  }
}
