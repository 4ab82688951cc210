import FoundationEssentials
import Glibc
import Messages
import Presets
import Processor
import Settings
import Text
import Threads

/// Pinna as a client of a session manager that speaks the NSM protocol: the connection to it, the open project, and
/// the requests that it has not answered yet.
///
/// Every open and every save is answered exactly once. `Controller+NSM` serves them while Pinna runs; before that,
/// `join` and `openFirst` do.
///
/// Thread: control thread. Only `join` and `openFirst` wait, and each has a deadline.
package final class NSMClient {
  /// How long to wait for the manager's name server, for the answer to the announcement, and for the project.
  static let replyPatience = Duration.seconds(5)
  static let openPatience = Duration.seconds(10)
  /// How long a project's disk may take.
  static let diskPatience = Duration.seconds(5)

  let socket: NSMSocket
  /// The open project; nil if the manager has not sent one.
  package private(set) var project: NSMProject?
  /// What the project's file contains; nil while that is unknown.
  private(set) var saved: RunMemory.LastSetting?
  /// The setting of a project that does not exist yet.
  private var initial: Setting?
  private var library: PresetLibrary?
  /// Reads and writes projects one after another, so that an old save never overwrites a newer one.
  private let disk: Worker
  private var saves: [(job: Job<RunMemory>, deadline: ContinuousClock.Instant)] = []
  /// An open that has not been answered yet.
  var opening: Opening?
  private var toldDirty: Bool?
  private var toldProgress: Double?
  private var nextProgress = ContinuousClock.now

  /// The stages of an open while Pinna runs.
  enum Opening {
    /// The first project, which is answered when Pinna is in a graph.
    case starting
    /// The server is asked whether Pinna can have the project's name.
    case naming(NSMProject, Job<Bool>, deadline: ContinuousClock.Instant)
    case reading(NSMProject, Job<ProjectRead>, deadline: ContinuousClock.Instant)
    /// Its setting fades in; a device may have to be designed. The socket has the new name; nil if the name stays.
    /// `old` is the previous setting.
    case applying(NSMProject, NSMProject.Contents, NamedSocket?, old: Setting)
    /// Pinna leaves the graph, and joins it under another name.
    case renaming(deadline: ContinuousClock.Instant)
  }

  /// Whether the setting of a project is being applied that is not the open one yet.
  var isApplying: Bool { if case .applying = opening { true } else { false } }

  typealias ProjectRead = Result<NSMProject.Contents, NSMProject.OpenError>

  private init(_ socket: NSMSocket) throws {
    self.socket = socket
    disk = try Worker("pinna project")
  }

  /// Whether the environment names a session manager.
  package static func isNamed(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> Bool {
    !(environment["NSM_URL"] ?? "").isEmpty
  }

  // MARK: Starting

  /// Announces Pinna to the session manager of NSM_URL, and waits for the project that it sends.
  /// - Parameters:
  ///   - isStopped: whether to give up.
  ///   - complain: tells the operator that Pinna runs without the session manager, and why.
  /// - Returns: nil if no manager is named or none answers. Pinna then runs as without NSM_URL.
  package static func join(
    environment: [String: String] = ProcessInfo.processInfo.environment,
    program: String = CommandLine.arguments[0], isStopped: () -> Bool, complain: (String) -> Void
  ) -> NSMClient? {
    guard isNamed(environment), let url = environment["NSM_URL"] else { return nil }
    do {
      let address = try NSMAddress(url: url)
      let client = try NSMClient(try NSMSocket(to: try resolve(address, isStopped)))
      let executable = program.lastPathComponent
      try client.announce(address, NSMMessage.announce(executable: executable, process: getpid()), isStopped)
      if !client.waitForProject(isStopped), !isStopped() {
        complain(
          "the session manager at \(address) has sent no project for \(openPatience.components.seconds) s; Pinna runs "
            + "without one until it does")
      }
      return client
    } catch {
      if isStopped() { return nil }
      complain(
        "\(Failure(error)); Pinna runs without a session manager. Start the session again, or unset NSM_URL")
      return nil
    }
  }

  private static func resolve(_ address: NSMAddress, _ isStopped: () -> Bool) throws -> UDPAddress {
    let job = Job<UDPAddress>.start("pinna NSM") { _ in try address.resolved() }
    let deadline = ContinuousClock.now + replyPatience
    while job.result == nil, .now < deadline, !isStopped() { usleep(1000) }
    guard let result = job.result else {
      job.abandon()
      throw Failure(.failed, "the host \(address.host) of NSM_URL was not found in time")
    }
    return try result.get()
  }

  /// Sends the announcement and waits for the manager's answer to it.
  private func announce(_ address: NSMAddress, _ message: OSCMessage, _ isStopped: () -> Bool) throws {
    socket.watchForRefusal(true)
    defer { socket.watchForRefusal(false) }
    socket.send(message)
    let deadline = ContinuousClock.now + Self.replyPatience
    while .now < deadline, !isStopped() {
      socket.wait(milliseconds: 50)
      while let answer = socket.receive() {
        guard NSMMessage.answersAnnouncement(answer) else { continue }
        if answer.path == "/reply" { return }
        throw Failure(
          .refused,
          "the session manager at \(address) does not accept Pinna: \(answer.words.last ?? "no reason given")"
        )
      }
      if socket.isRefused { break }
    }
    throw Failure(.failed, "the session manager at \(address), which NSM_URL names, does not answer")
  }

  /// - Returns: false if no project has come in time.
  private func waitForProject(_ isStopped: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + Self.openPatience
    while .now < deadline, !isStopped() {
      socket.wait(milliseconds: 50)
      while let message = socket.receive() {
        if case .open(let project) = NSMRequest(message) {
          self.project = project
          opening = .starting
          return true
        }
        if case .save = NSMRequest(message) { refuse(NSMRequest.savePath, .general, Self.noProject) }
      }
    }
    return false
  }

  static let noProject = "Pinna has no project yet; open one first"

  /// Reads the project that the manager has sent, or makes it with `initial`. Answers the manager only on failure.
  /// - Returns: nil if the manager has sent none.
  package func openFirst(initial: Setting, library: PresetLibrary) throws(Failure) -> NSMProject.Contents? {
    (self.initial, self.library) = (initial, library)
    guard let project else { return nil }
    do throws(Failure) { _ = try RuntimeFolder.socket(named: project.clientID) } catch {
      return try giveUp(.general, error)
    }
    let job = read(project)
    let deadline = ContinuousClock.now + Self.diskPatience
    while job.result == nil, .now < deadline { usleep(1000) }
    guard case .success(let read) = job.result else {
      return try giveUp(.general, Self.diskFailure(project))
    }
    switch read {
    case .success(let contents):
      saved = RunMemory.LastSetting(contents.setting)
      return contents
    case .failure(let error): return try giveUp(error.code, error.failure)
    }
  }

  private func giveUp(_ code: NSMError, _ failure: Failure) throws(Failure) -> NSMProject.Contents? {
    endOpening(code, failure.description)
    throw failure
  }

  static func diskFailure(_ project: NSMProject) -> Failure {
    Failure(
      .failed,
      "the disk of the project \(project.path) has not answered for \(diskPatience.components.seconds) s; try again "
        + "when it does")
  }

  // MARK: Projects

  func read(_ project: NSMProject) -> Job<ProjectRead> {
    guard let initial, let library else { return .failed(Failure(.failed, Self.noProject)) }
    return disk.job { project.open(initial: initial, library: library) }
  }

  /// Makes `project` the open one.
  func adopt(_ project: NSMProject, _ contents: NSMProject.Contents) {
    self.project = project
    saved = RunMemory.LastSetting(contents.setting)
    // The manager may believe that this client is still dirty.
    toldDirty = nil
  }

  /// Writes `memory` into the open project. `pollSaves` answers the manager.
  func save(_ memory: RunMemory) {
    guard let project else { return refuse(NSMRequest.savePath, .general, Self.noProject) }
    guard !isApplying else {
      return refuse(NSMRequest.savePath, .notNow, "another project is being opened; save when it is open")
    }
    let job = disk.job {
      try project.save(memory)
      return memory
    }
    saves.append((job, .now + Self.diskPatience))
  }

  func pollSaves() {
    while let (job, deadline) = saves.first {
      switch job.result {
      case .success(let memory):
        saved = memory.setting
        socket.send(NSMMessage.reply(to: NSMRequest.savePath, "saved"))
      case .failure(let failure):
        refuse(NSMRequest.savePath, .general, "the project cannot be saved: \(failure)")
      case nil where .now > deadline:
        job.abandon()
        refuse(
          NSMRequest.savePath, .general, project.map { Self.diskFailure($0).description } ?? Self.noProject)
      case nil: return
      }
      saves.removeFirst()
    }
  }

  /// Whether a save has not been answered yet.
  var isSaving: Bool { !saves.isEmpty }

  // MARK: Answers

  func refuse(_ path: String, _ code: NSMError, _ sentence: String) {
    socket.send(NSMMessage.error(to: path, code, sentence))
  }

  /// Answers the unanswered open, if there is one.
  /// - Parameter code: nil if the project is open.
  package func endOpening(_ code: NSMError?, _ sentence: String) {
    guard opening != nil else { return }
    opening = nil
    if let code {
      refuse(NSMRequest.openPath, code, sentence)
    } else {
      socket.send(NSMMessage.reply(to: NSMRequest.openPath, sentence))
    }
  }

  /// Answers everything that is unanswered when Pinna ends, or fails to start.
  package func leave(_ sentence: String) {
    // A save that the disk completes at once is still answered as such.
    let deadline = ContinuousClock.now + .seconds(1)
    while isSaving, .now < deadline {
      pollSaves()
      if isSaving { usleep(1000) }
    }
    for (job, _) in saves {
      job.abandon()
      refuse(NSMRequest.savePath, .general, sentence)
    }
    saves = []
    endOpening(.general, sentence)
  }

  // MARK: Feedback

  /// Shows the operator's warnings in the session manager.
  package func tell(_ sentence: String) {
    socket.send(NSMMessage.message(sentence, priority: 2))
  }

  /// Tells the manager whether the setting differs from the saved one, when that changes.
  func publish(setting: RunMemory.LastSetting) {
    guard opening == nil, project != nil, let saved else { return }
    let isDirty = setting != saved
    guard isDirty != (toldDirty ?? !isDirty) else { return }
    if socket.send(NSMMessage.isDirty(isDirty)) { toldDirty = isDirty }
  }

  /// Tells the manager how far a design is, at most ten times a second, and when it has ended.
  /// - Parameter part: from 0 to 1; nil if nothing is being designed.
  func publish(progress part: Double?, now: ContinuousClock.Instant = .now) {
    guard let part else {
      if toldProgress != nil { socket.send(NSMMessage.progress(1)) }
      toldProgress = nil
      return
    }
    guard now >= nextProgress, part != toldProgress else { return }
    nextProgress = now + .milliseconds(100)
    toldProgress = part
    socket.send(NSMMessage.progress(part))
  }
}
