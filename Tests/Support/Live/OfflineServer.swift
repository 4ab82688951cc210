import CSockets
import Foundation
import Messages
import Synchronization
import TestSupport

/// A graph without a server, of one process: the library of `Tests/OfflineJack` in libjack's place. It begins when the
/// process that has its `environment` opens a client.
public struct OfflineServer {
  /// What `--server` takes.
  public let name: String
  /// Additions to the environment of the process.
  public let environment: [String: String]
  private let folder: String
  private static let count = Atomic<Int>(0)

  /// - Parameters:
  ///   - captures, playbacks: the graph's physical ports.
  ///   - speed: of the virtual clock, in seconds per second.
  ///   - inFreewheel: whether clients are told that there is no deadline.
  ///   - isPipeWire: whether it is PipeWire, with the faults of its libjack.
  ///   - isRunning: whether there is a server from the start.
  public init(
    home: PinnaHome, sampleRate: Int = 48000, period: Int = 128, captures: Int = 0, playbacks: Int = 0,
    speed: Int = 8, inFreewheel: Bool = true, isPipeWire: Bool = false,
    isRunning: Bool = true
  ) throws {
    let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    name = "pinna-offline-\(getpid())-\(number)"
    folder = home.folder.path + "/graph-\(number)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    environment = [
      "LD_LIBRARY_PATH": try Self.library.get(), "PINNA_OFFLINE": folder,
      "PINNA_OFFLINE_GRAPH":
        "period=\(period) rate=\(sampleRate) speed=\(speed) captures=\(captures) playbacks=\(playbacks) "
        + "freewheel=\(inFreewheel ? 1 : 0) pipewire=\(isPipeWire ? 1 : 0)",
    ]
    if !isRunning { try write("down") }
  }

  /// The folder of the compiled library, made once.
  private static let library = Result {
    let folder = repositoryFolder + "/.build/offline-jack"
    let source = repositoryFolder + "/Tests/OfflineJack/libjack.c"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let new = "\(folder)/new-\(getpid())"
    let built = try Program.run(
      Preload.compiler ?? "cc", ["-shared", "-fPIC", "-O1", "-o", new, "-Wl,-soname,libjack.so.0", source])
    guard built.status == 0, rename(new, folder + "/libjack.so.0") == 0 else {
      throw SupportError("\(built)")
    }
    return folder
  }

  private func write(_ file: String) throws {
    guard FileManager.default.createFile(atPath: "\(folder)/\(file)", contents: Data()) else {
      throw SupportError("\(folder)/\(file) cannot be written")
    }
  }

  /// Lets another program have a client of that name.
  public func take(name: String) throws { try write("client-\(name)") }

  // MARK: Commands

  /// Whether the process has opened a client.
  public var isUsed: Bool { access(folder + "/graph.sock", F_OK) == 0 }

  /// Sends a command to the library (`command` in libjack.c), and returns its answer.
  @discardableResult
  public func command(_ words: String...) throws -> String { try command(words) }

  @discardableResult
  public func command(_ words: [String]) throws -> String {
    try GraphSocket(folder).ask(words.joined(separator: "\t"))
  }

  /// Ends the server, as its process sees it.
  public func kill() throws {
    try write("down")
    try command("die", "the server was killed")
  }

  /// Starts a server, after `kill` or where there was none.
  public func start() { unlink(folder + "/down") }

  /// The connections, as pairs of full port names.
  public func connections() throws -> Set<[String]> {
    Set(
      try command("list").split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        .filter { $0.count == 2 })
  }

  /// The full names of the ports that the process has and of the graph's own, in the order of their registration.
  public func ports() throws -> [String] {
    try command("list").split(separator: "\n").map(String.init).filter { !$0.contains("\t") }
  }

  /// The ports that `port` is connected to.
  public func peers(of port: String) throws -> [String] {
    try connections().compactMap { $0[0] == port ? $0[1] : $0[1] == port ? $0[0] : nil }.sorted()
  }

  /// Destroys a client's node, as another program may in PipeWire.
  public func destroy(_ client: String) throws { try command("destroy", client) }

  // MARK: Other programs

  public func connect(_ source: String, _ destination: String) throws {
    try command("connect", source, destination)
  }

  public func disconnect(_ source: String, _ destination: String) throws {
    try command("disconnect", source, destination)
  }

  /// Adds an output of another program, which is silent.
  public func add(output port: String, isMIDI: Bool = false) throws {
    try command("add", port, "output", isMIDI ? "midi" : "audio")
  }

  /// Adds an input of another program.
  public func add(input port: String) throws { try command("add", port, "input", "audio") }

  /// Removes a port, as when its program ends.
  public func remove(_ port: String) throws { try command("remove", port) }
}

/// A socket that asks the graph's library.
private final class GraphSocket {
  private let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  private let path: String

  init(_ folder: String) throws {
    path = "\(folder)/ask-\(UInt32.random(in: 0 ... .max))"
    let isBound = withSocketAddress(path, { bind(descriptor, $0, $1) }) == 0
    let isConnected = withSocketAddress(folder + "/graph.sock", { connect(descriptor, $0, $1) }) == 0
    guard isBound, isConnected else {
      throw SupportError("no offline graph in \(folder): \(String(cString: strerror(errno)))")
    }
  }

  deinit {
    close(descriptor)
    unlink(path)
  }

  func ask(_ text: String) throws -> String {
    let bytes = Array(text.utf8)
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    var answer = [UInt8](repeating: 0, count: 60_000)
    guard send(descriptor, bytes, bytes.count, 0) == bytes.count, Glibc.poll(&poll, 1, 10_000) > 0 else {
      throw SupportError("the offline graph does not answer \(text)")
    }
    let count = recv(descriptor, &answer, answer.count, 0)
    let reply = String(decoding: answer.prefix(max(0, count)), as: UTF8.self)
    guard reply != "failed", reply != "unknown" else {
      throw SupportError("the offline graph: \(text) \(reply)")
    }
    return reply
  }
}
