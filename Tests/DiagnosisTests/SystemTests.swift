import Diagnosis
import Foundation
import TestSupport
import Testing

/// Checks on planted trees of files: no server, no sound card.
@Suite("what pinna doctor finds on a system") struct SystemTests {
  let folder: TemporaryFolder
  var root: SystemRoot { SystemRoot(folder.path) }
  init() throws { folder = try TemporaryFolder() }

  static let granted = SchedulingRights(
    priorityLimit: 95, isRealtimeGranted: true, lockLimit: nil, isLockGranted: true)
  static let library = LoadedLibrary(version: "1.9.21", path: "/usr/lib/libjack.so.0", isPipeWire: false)
  static let pipeWire = LoadedLibrary(version: "3.0", path: "", isPipeWire: true)
  static let answers = ServerState.answers(rate: 48000, period: 256, .realtime)

  func plant(_ files: [String: String]) throws {
    for (path, text) in files { try folder.write(text, to: path) }
  }

  func finding(_ subject: String, _ findings: [Finding]) throws -> Finding {
    try #require(findings.first { $0.subject == subject }, "\(findings)")
  }

  @Test("a system that grants everything has no fault and no warning")
  func healthy() throws {
    try plant([
      "usr/share/dbus-1/system-services/org.freedesktop.RealtimeKit1.service": "",
      "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
      "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
    ])
    let findings =
      root.scheduling(Self.granted, Self.answers) + root.server(Self.library, Self.answers, .absent)
    #expect(findings.allSatisfy { $0.mark == .ok && $0.remedy == nil }, "\(findings)")
    #expect(try finding("JACK server", findings).found == "answers: 48000 Hz, period 256 (5.3 ms)")
    #expect(try finding("processor governor", findings).found == "performance")
  }

  @Test("refused realtime scheduling is a fault with the line for limits.d; without rtkit that is said, too")
  func noRealtime() throws {
    var rights = Self.granted
    (rights.priorityLimit, rights.isRealtimeGranted) = (0, false)
    let findings = root.scheduling(rights, .answers(rate: 48000, period: 256, .refusedToClients))
    let realtime = try finding("realtime priority", findings)
    #expect(realtime.mark == .fault && realtime.remedy?.contains("@audio - rtprio 95") == true)
    #expect(try finding("rtkit", findings).mark == .warning)
  }

  @Test(
    "no fault is found where the server's clients are realtime, though this user's threads are refused it")
  func realtimeByServer() throws {
    var rights = Self.granted
    (rights.priorityLimit, rights.isRealtimeGranted) = (0, false)
    #expect(try finding("realtime priority", root.scheduling(rights, Self.answers)).mark == .ok)
    for state in [ServerState.hangs, .refuses("none answers"), .answers(rate: 48000, period: 256, .none)] {
      #expect(try finding("realtime priority", root.scheduling(rights, state)).mark == .fault)
    }
  }

  @Test("memory that cannot be locked is a warning with its limit")
  func noLock() throws {
    var rights = Self.granted
    (rights.lockLimit, rights.isLockGranted) = (8 << 20, false)
    let lock = try finding("locked memory", root.scheduling(rights, Self.answers))
    #expect(lock.mark == .warning && lock.found.hasPrefix("a limit of 8192 kB"), "\(lock)")
  }

  @Test("powersave on some cores is a warning that counts them")
  func powersave() throws {
    try plant([
      "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
      "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
      "sys/devices/system/cpu/cpufreq/boost": "1\n",
    ])
    let governor = try finding("processor governor", root.scheduling(Self.granted, Self.answers))
    #expect(governor.mark == .warning && governor.found == "powersave on 1 of 2 cores", "\(governor)")
  }

  @Test("JACK's libjack where PipeWire runs is a fault that names pw-jack; beside a jackd a warning")
  func wrongLibrary() throws {
    let none = ServerState.refuses("none answers")
    let fault = try finding("libjack", root.server(Self.library, none, .listens))
    #expect(fault.mark == .fault && fault.remedy?.contains("pw-jack pinna run") == true, "\(fault)")
    try plant(["proc/12/comm": "jackd\n"])
    let warning = try finding("libjack", root.server(Self.library, none, .listens))
    #expect(warning.mark == .warning && warning.remedy?.contains("--server") == true, "\(warning)")
    #expect(try finding("libjack", root.server(Self.pipeWire, none, .absent)).mark == .fault)
    #expect(try finding("libjack", root.server(Self.pipeWire, Self.answers, .absent)).mark == .ok)
  }

  @Test(
    "a server that hangs or refuses realtime is a fault, one that is not there or has no realtime a warning")
  func servers() throws {
    func mark(_ state: ServerState) throws -> Finding.Mark {
      try finding("JACK server", root.server(Self.library, state, .absent)).mark
    }
    #expect(try mark(.hangs) == .fault)
    #expect(try mark(.answers(rate: 48000, period: 64, .refusedToClients)) == .fault)
    #expect(try mark(.answers(rate: 48000, period: 64, .none)) == .warning)
    #expect(try mark(.refuses("none answers")) == .warning)
  }

  @Test("a jackd of another name than the one asked for is named, with the option that reaches it")
  func namedServer() throws {
    for words in ["jackd\0-n\0studio\0-d\0dummy\0", "jackd\0--name=studio\0", "jackd\0-nstudio\0"] {
      try plant(["proc/12/comm": "jackd\n", "proc/12/cmdline": words])
      let server = try finding("JACK server", root.server(Self.library, .refuses("none answers"), .absent))
      #expect(server.found == "none answers; jackd runs as studio", "\(server)")
      #expect(server.remedy?.hasPrefix("name it: --server studio,") == true)
    }
    // The server asked for is there, and refuses; -n of the ALSA driver is no name.
    for words in ["jackd\0-d\0alsa\0-n\03\0", "jackd\0-dalsa\0-n3\0", "jackd\0"] {
      try plant(["proc/12/cmdline": words])
      let server = try finding("JACK server", root.server(Self.library, .refuses("none answers"), .absent))
      #expect(server.found == "none answers", "\(server)")
    }
  }

  @Test("JACK's files in shared memory without a server are a warning, with one they are its own")
  func leftovers() throws {
    try plant([
      "dev/shm/jack-0-0": "", "dev/shm/jack_sem.0_x": "", "dev/shm/jack_db-0/x": "",
      "dev/shm/jack-shm-registry": "",
      "dev/shm/other": "",
    ])
    func shared() throws -> Finding {
      try finding("shared memory", root.server(Self.library, Self.answers, .absent))
    }
    let left = try shared()
    #expect(left.mark == .warning && left.found.hasPrefix("2 files") && left.remedy == "rm -r /dev/shm/jack*")
    try plant(["proc/7/comm": "jackd\n"])
    #expect(try shared().mark == .ok)
  }

  @Test("a PipeWire socket counts as a daemon only if something listens on it")
  func pipeWireSocket() throws {
    let path = folder.path + "/pipewire-0"
    let environment = ["XDG_RUNTIME_DIR": folder.path]
    guard case .absent = PipeWireState(environment) else { throw Unexpected() }
    let listener = try #require(Listener(path))
    guard case .listens = PipeWireState(environment) else { throw Unexpected() }
    guard case .absent = PipeWireState(environment.merging(["PIPEWIRE_REMOTE": "other"]) { $1 }) else {
      throw Unexpected()
    }
    listener.close()
    guard case .leftBehind(path) = PipeWireState(environment) else { throw Unexpected() }
    let findings = root.server(Self.library, Self.answers, PipeWireState(environment))
    #expect(try finding("PipeWire", findings).mark == .warning)
  }

  struct Unexpected: Error {}

  @Test("sockets of killed Pinnas are named; a refused folder is a fault")
  func sockets() throws {
    try plant([
      "pinna/dead.sock": "", "pinna/dead.sock.lock": "", "pinna/alive.sock": "", "pinna/alive.sock.lock": "",
    ])
    let path = folder.path + "/pinna"
    let lock = open(path + "/alive.sock.lock", O_RDONLY)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX) == 0)
    let left = Finding.sockets(in: path, fault: nil)
    #expect(left.mark == .warning && left.remedy == "rm \(path)/dead.sock", "\(left)")
    try FileManager.default.removeItem(atPath: path + "/dead.sock")
    #expect(Finding.sockets(in: path, fault: nil).mark == .ok)
    #expect(Finding.sockets(in: path, fault: "other users can enter it").mark == .fault)
    #expect(Finding.sockets(in: path + "/none", fault: nil).mark == .ok)
  }
}

/// A socket that listens.
private final class Listener {
  private let socket: Int32

  init?(_ path: String) {
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < 107 else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound, listen(socket, 4) == 0 else { return nil }
  }

  func close() { Glibc.close(socket) }
}
