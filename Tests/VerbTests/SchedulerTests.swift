import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

/// The commands on the page about many machines, with the schedulers themselves. Everything that is started here is
/// ended by its process ID.
@Suite("Renders by schedulers", .long, .serialized) struct SchedulerTests {
  let home: VerbHome

  private static let count = 12
  /// The take that is killed: ten minutes of silence, which take no space.
  private static let longOne = 7

  init() throws {
    home = try VerbHome()
    try #require(try home.pinna("design", "pair").status == 0)
  }

  /// Twelve takes, what they are rendered to one after another, and a line for each in `jobs.txt`.
  private func prepare() throws {
    var noise = SeededNoise(seed: 12)
    for n in 1...Self.count {
      let frames = 20_000 + 1000 * n
      let sound = (0..<2).map { _ in noise.samples(frames, amplitude: 0.25) }
      try home.writeTake("takes/\(n + 10)", sound, [frames])
    }
    let name = "takes/\(Self.longOne + 10)"
    let bytes = 4 * 48000 * 600
    let header = Data(StatedSound(.wav, .right).header(sound: bytes, channels: 2))
    truncate(try home.home.folder.write(header, to: name + "-microphones.wav"), off_t(44 + bytes))
    let sidecar = try String(contentsOfFile: "\(home.path)/\(name).json", encoding: .utf8)
    try home.home.folder.write(
      sidecar.replacingOccurrences(of: "27000", with: "\(bytes / 4)"), to: name + ".json")
    let serial = try home.shell("$PINNA render --takes takes --into serial --jobs 1")
    try #require(serial.status == 0, "\(serial)")
    let jobs = try home.shell(
      "$PINNA render --takes takes --into out --print-jobs >jobs.txt && wc -l <jobs.txt")
    try #require(jobs.output == "12\n", "\(jobs)")
  }

  /// The names of outputs that equal those of the serial run, byte for byte.
  private func equalOutputs() throws -> [String] {
    try home.contents("out").filter { name in
      let (one, other) = ("\(home.path)/out/\(name)", "\(home.path)/serial/\(name)")
      return try access(other, F_OK) == 0
        && Data(contentsOf: URL(filePath: one), options: .alwaysMapped)
          == Data(contentsOf: URL(filePath: other), options: .alwaysMapped)
    }
  }

  private static let names = (1...count).map { "\($0 + 10).wav" }

  /// Whether the page shows this command.
  private func expectOnPage(_ command: String) throws {
    let page = try String(contentsOfFile: repositoryFolder + "/docs/batch.md", encoding: .utf8)
    #expect(page.contains(command + "\n"), "the page lacks: \(command)")
  }

  // MARK: GNU parallel

  private static let parallel = "parallel --jobs 4 --joblog log.txt <jobs.txt"
  private static let again = "parallel --resume-failed --joblog log.txt <jobs.txt"

  @Test(
    "GNU parallel: 12 renders, one killed and run again, equal the serial run",
    .enabled(if: access("/usr/bin/parallel", X_OK) == 0, "parallel is missing"))
  func oneMachine() throws {
    for command in [Self.parallel, Self.again] { try expectOnPage(command) }
    try prepare()
    let part = "\(home.path)/out/\(Self.longOne + 10).wav.part"
    let program = try home.startShell("exec \(Self.parallel)")
    try #require(waitUntil(seconds: 60) { access(part, F_OK) == 0 })
    let holder = try #require(Self.process(holding: part))
    kill(holder, SIGKILL)
    let outcome = try #require(program.wait(seconds: 60))
    #expect(outcome.status == 1, "\(outcome)")
    #expect(try equalOutputs().count == Self.count - 1)
    let rest = try home.shell(Self.again)
    #expect(rest.status == 0, "\(rest)")
    #expect(try equalOutputs() == Self.names && home.contents("out") == Self.names)
  }

  /// The `pinna` that has a file open.
  private static func process(holding path: String) -> Int32? {
    let files = FileManager.default
    let real = realpath(path, nil).map { pointer in
      defer { free(pointer) }
      return String(cString: pointer)
    }
    return ((try? files.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }.first { pid in
      ((try? files.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []).contains {
        (try? files.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\($0)")) == real
      }
    }
  }

  private static let hosts = "parallel --sshlogin 2/anna,2/ben --joblog log.txt <jobs.txt"

  private static let sshObstacle: String? =
    PrivateNetwork.obstacle
    ?? missing("/usr/bin/parallel", "/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen")

  private static func missing(_ programs: String...) -> String? {
    programs.first { access($0, X_OK) != 0 }.map { "\($0) is missing" }
  }

  @Test(
    "GNU parallel over ssh: 12 renders on two hosts equal the serial run",
    .enabled(if: sshObstacle == nil, "\(sshObstacle ?? "")"))
  func twoMachines() throws {
    try expectOnPage(Self.hosts)
    try prepare()
    // Where sshd has its place on Debian; nothing is written there.
    let isMade = mkdir("/run/sshd", 0o755) == 0
    defer { if isMade { rmdir("/run/sshd") } }
    let keys = try home.shell(
      "ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user && cp user.pub authorized"
    )
    try #require(keys.status == 0, "\(keys)")
    let network = try PrivateNetwork()
    var environment = home.home.environment
    environment["XDG_CACHE_HOME"] = home.cacheFolder
    let words = environment.filter { $0.key != "PATH" }.map { "\"\($0)=\($1)\"" }.sorted()
    var servers: [Program] = []
    for machine in [PrivateNetwork.Machine.master, .slave] {
      let address = PrivateNetwork.address(machine)
      let file = try home.home.folder.write(
        """
        ListenAddress \(address)
        HostKey \(home.path)/host
        AuthorizedKeysFile \(home.path)/authorized
        PidFile none
        UsePAM no
        StrictModes no
        PasswordAuthentication no
        PermitRootLogin prohibit-password
        MaxStartups 100
        SetEnv \(words.joined(separator: " "))

        """, to: "sshd-\(address)")
      servers.append(
        try network.start(machine, Daemon.program, Daemon.words("/usr/sbin/sshd", ["-D", "-e", "-f", file])))
    }
    let config = try home.home.folder.write(
      """
      Host anna
        HostName \(PrivateNetwork.address(.master))
      Host ben
        HostName \(PrivateNetwork.address(.slave))
      Host *
        User root
        IdentityFile \(home.path)/user
        IdentitiesOnly yes
        StrictHostKeyChecking no
        UserKnownHostsFile \(home.path)/known
        LogLevel ERROR

      """, to: "ssh-config")
    let areListening = waitUntil(seconds: 10, every: 50) {
      servers.allSatisfy { $0.errorText.contains("Server listening") }
    }
    try #require(areListening, "\(servers.map(\.errorText))")
    let command = "export PARALLEL_SSH='ssh -F \(config)'; cd \(home.path) && \(Self.hosts)"
    let client = try network.start(
      .master, "/usr/bin/env", environment.map { "\($0)=\($1)" } + ["/bin/bash", "-c", command])
    let outcome = try #require(client.wait(seconds: 120), "\(client.errorText)")
    #expect(outcome.status == 0, "\(outcome)\n\(servers.map(\.errorText))")
    let log = try String(contentsOfFile: home.path + "/log.txt", encoding: .utf8)
    let used = Set(log.split(separator: "\n").dropFirst().map { $0.split(separator: "\t")[1] })
    #expect(used == ["anna", "ben"], "\(log)")
    #expect(try equalOutputs() == Self.names && home.contents("out") == Self.names)
    for server in servers { server.stop() }
  }

  // MARK: Slurm

  private static let submit =
    "sbatch --array=1-$(wc -l <jobs.txt) --wrap 'sed -n \"${SLURM_ARRAY_TASK_ID}p\" jobs.txt | sh'"
  private static let resubmit = "sbatch --array=7 --wrap 'sed -n \"${SLURM_ARRAY_TASK_ID}p\" jobs.txt | sh'"

  @Test(
    "Slurm: an array of 12 renders, one killed and submitted again, equals the serial run",
    .enabled(if: Slurm.obstacle == nil, "\(Slurm.obstacle ?? "")"))
  func slurm() throws {
    for command in [Self.submit, Self.resubmit] { try expectOnPage(command) }
    try prepare()
    let slurm = try Slurm(home)
    defer { slurm.stop() }
    let submitted = try home.shell("\(slurm.environment) \(Self.submit)")
    let job = try #require(
      submitted.output.split(separator: " ").last.flatMap { Int($0.trimmingCharacters(in: .newlines)) },
      "\(submitted)")
    let part = "\(home.path)/out/\(Self.longOne + 10).wav.part"
    try #require(waitUntil(seconds: 60) { access(part, F_OK) == 0 }, "\(slurm.log)")
    let cancelled = try home.shell("\(slurm.environment) scancel \(job)_\(Self.longOne)")
    #expect(cancelled.status == 0, "\(cancelled)")
    try slurm.awaitEmptyQueue()
    let name = "\(Self.longOne + 10).wav"
    #expect(try equalOutputs() == Self.names.filter { $0 != name }, "\(slurm.log)")
    #expect(!home.contents("out").contains(name))
    #expect(try home.shell("\(slurm.environment) \(Self.resubmit)").status == 0)
    try slurm.awaitEmptyQueue()
    #expect(try equalOutputs() == Self.names && home.contents("out") == Self.names, "\(slurm.log)")
  }
}

/// A daemon as the child of `timeout`, which passes TERM on, and ends it after five minutes at the latest. Daemons close
/// the descriptors that they inherit; by one of them Foundation's `Process` would see that its child has ended.
private enum Daemon {
  static let program = "/usr/bin/timeout"

  static func words(_ path: String, _ arguments: [String]) -> [String] {
    ["-k", "10", "300", path] + arguments
  }

  static func start(_ path: String, _ arguments: [String]) throws -> Program {
    try Program(program, words(path, arguments))
  }
}

/// A cluster of this machine alone, on loopback: munged, slurmctld and slurmd of its own.
private final class Slurm {
  private static let programs = [
    "/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch",
  ]
  /// Why there can be none here; nil if there can.
  static let obstacle: String? =
    getuid() != 0
    ? "a private slurmd needs root"
    : programs.first { access($0, X_OK) != 0 }.map { "\($0) is missing: apt-get install slurm-wlm munge" }

  private let home: VerbHome
  private let folder: String
  /// In the order of their start.
  private var daemons: [Program] = []
  /// What comes before a command for this cluster.
  var environment: String { "SLURM_CONF=\(folder)/slurm.conf" }
  var log: String { daemons.map { $0.outputText + $0.errorText }.joined(separator: "\n") }

  init(_ home: VerbHome) throws {
    self.home = home
    folder = home.path + "/slurm"
    let made = try home.shell(
      "mkdir -p slurm/state slurm/spool && chmod 755 slurm && (umask 077; head -c 1024 /dev/urandom >slurm/key)"
    )
    guard made.status == 0 else { throw SupportError("\(made)") }
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    let host = String(
      decoding: name.prefix { $0 != 0 && $0 != 46 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let port = 20_000 + 2 * (Int(getpid()) % 6000)
    try home.home.folder.write(
      """
      ClusterName=pinna
      SlurmctldHost=\(host)(127.0.0.1)
      SlurmctldPort=\(port)
      SlurmdPort=\(port + 1)
      SlurmUser=root
      SlurmdUser=root
      AuthInfo=socket=\(folder)/munge
      StateSaveLocation=\(folder)/state
      SlurmdSpoolDir=\(folder)/spool
      SlurmctldPidFile=\(folder)/slurmctld.pid
      SlurmdPidFile=\(folder)/slurmd.pid
      ProctrackType=proctrack/linuxproc
      TaskPlugin=task/none
      SelectType=select/cons_tres
      SelectTypeParameters=CR_CPU
      JobAcctGatherType=jobacct_gather/none
      MpiDefault=none
      KillWait=2
      SchedulerParameters=sched_interval=1,sched_min_interval=0
      NodeName=\(host) NodeAddr=127.0.0.1 CPUs=\(ProcessInfo.processInfo.activeProcessorCount)
      PartitionName=all Nodes=\(host) Default=YES

      """, to: "slurm/slurm.conf")
    daemons.append(
      try Daemon.start(
        Self.programs[0],
        [
          "-F", "--key-file=\(folder)/key", "--socket=\(folder)/munge", "--pid-file=\(folder)/munged.pid",
          "--log-file=\(folder)/munged.log", "--seed-file=\(folder)/seed",
        ]))
    guard waitUntil(seconds: 10, { access(folder + "/munge", F_OK) == 0 }) else { throw SupportError(log) }
    for program in Self.programs[1...2] {
      daemons.append(try Daemon.start(program, ["-D", "-f", "\(folder)/slurm.conf"]))
    }
    let isUp = try waitUntil(seconds: 30, every: 200) {
      try home.shell("\(environment) sinfo -h -o %t").output == "idle\n"
    }
    guard isUp else { throw SupportError("no node is idle: \(log)") }
  }

  func awaitEmptyQueue() throws {
    let isEmpty = try waitUntil(seconds: 120, every: 200) {
      let queue = try home.shell("\(environment) squeue -h")
      return queue.status == 0 && queue.output.isEmpty
    }
    guard isEmpty else { throw SupportError("jobs do not end: \(log)") }
  }

  /// Ends jobs and daemons, the last one first.
  func stop() {
    guard !daemons.isEmpty else { return }
    _ = try? home.shell("\(environment) scancel --user=root")
    try? awaitEmptyQueue()
    for daemon in daemons.reversed() { daemon.stop() }
    daemons = []
  }

  deinit { stop() }
}
