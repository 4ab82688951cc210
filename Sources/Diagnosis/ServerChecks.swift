import FoundationEssentials
import Glibc

/// The libjack of this process.
public struct LoadedLibrary: Sendable {
  public var version: String
  /// Empty if unknown.
  public var path: String
  public var isPipeWire: Bool

  public init(version: String, path: String, isPipeWire: Bool) {
    self.version = version
    self.path = path
    self.isPipeWire = isPipeWire
  }
}

/// The scheduling of a JACK server and of this process as its client.
public enum ServerScheduling: Sendable {
  case realtime
  /// The server has realtime scheduling, and this process got none.
  case refusedToClients
  /// The server was started without (`jackd -r`).
  case none
}

/// What a JACK server answered.
public enum ServerState: Sendable {
  /// - Parameters:
  ///   - rate: in hertz.
  ///   - period: in frames.
  case answers(rate: Int, period: Int, ServerScheduling)
  /// There is none, or it refused; a sentence.
  case refuses(String)
  /// It took the connection, and never answered.
  case hangs
}

/// Whether a PipeWire daemon listens on a socket.
public enum PipeWireState: Hashable, Sendable {
  case absent
  case listens
  /// The socket's file is there, but nobody listens.
  case leftBehind(String)

  /// - Parameter environment: names the socket, as for all PipeWire programs.
  public init(_ environment: [String: String]) {
    let folder =
      [environment["PIPEWIRE_RUNTIME_DIR"], environment["XDG_RUNTIME_DIR"]].compactMap(\.self).first {
        !$0.isEmpty
      }
      ?? "/run/user/\(getuid())"
    let name = environment["PIPEWIRE_REMOTE"] ?? "pipewire-0"
    let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
    guard FileManager.default.fileExists(atPath: path) else {
      self = .absent
      return
    }
    self = Self.isAnswered(path) ? .listens : .leftBehind(path)
  }

  /// Never waits: the kernel takes the connection, or refuses it.
  private static func isAnswered(_ path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
      guard path.utf8.count < room.count else { return false }
      room.copyBytes(from: path.utf8)
      return true
    }
    let socket = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard fits, socket >= 0 else { return false }
    defer { close(socket) }
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 || errno == EAGAIN
      }
    }
  }
}

extension SystemRoot {
  /// libjack, the server that it finds, PipeWire, and what dead servers left in shared memory.
  /// - Parameter name: of the server that Pinna asks for.
  public func server(
    _ library: LoadedLibrary, _ state: ServerState, _ pipeWire: PipeWireState, named name: String = "default"
  ) -> [Finding] {
    let hasJack = !processes(["jackd", "jackdbus"]).isEmpty
    let fit = self.library(library, state, pipeWire, hasJack: hasJack)
    let others = library.isPipeWire ? [] : jackServers.filter { $0 != name }
    var findings = [fit, server(state, library, fits: fit.mark == .ok, others: others)]
    if case .leftBehind(let socket) = pipeWire {
      findings.append(
        .warning(
          "PipeWire", "its socket \(socket) is there, but nothing listens",
          because: "programs of PipeWire find no daemon", remedy: "systemctl --user restart pipewire"))
    }
    return findings + [sharedMemory(hasJack: hasJack)]
  }

  private func library(
    _ library: LoadedLibrary, _ state: ServerState, _ pipeWire: PipeWireState, hasJack: Bool
  ) -> Finding {
    let subject = "libjack"
    let name =
      "\(library.isPipeWire ? "PipeWire's" : "JACK's"), \(library.version)"
      + (library.path.isEmpty ? "" : " (\(library.path))")
    if case .answers = state { return .ok(subject, name) }
    let listens = pipeWire == .listens
    if listens, !library.isPipeWire, hasJack, case .refuses = state {
      return .warning(
        subject, "\(name); PipeWire runs, and a jackd that is not the server asked for",
        because: "Pinna finds no server with this library",
        remedy: "name jackd's server with --server, or start with pw-jack pinna run")
    }
    if listens, !library.isPipeWire, !hasJack {
      return .fault(
        subject, "\(name), but what runs is PipeWire", because: "Pinna finds no server with this library",
        remedy:
          "start with pw-jack pinna run, or install pipewire-jack's ld.so configuration: sudo cp /usr/share/doc/pipewire/examples/ld.so.conf.d/pipewire-jack-*.conf /etc/ld.so.conf.d/, then sudo ldconfig"
      )
    }
    if hasJack, library.isPipeWire, !listens {
      return .fault(
        subject, "\(name), but what runs is jackd", because: "Pinna finds no server with this library",
        remedy:
          "start without pw-jack, or remove pipewire-jack's file from /etc/ld.so.conf.d, then sudo ldconfig")
    }
    return .ok(subject, name)
  }

  /// - Parameters:
  ///   - fits: whether the library is that of the server.
  ///   - others: names of JACK servers that run beside the one asked for.
  private func server(_ state: ServerState, _ library: LoadedLibrary, fits: Bool, others: [String]) -> Finding
  {
    let subject = library.isPipeWire ? "PipeWire as JACK server" : "JACK server"
    switch state {
    case .answers(let rate, let period, let scheduling):
      let milliseconds = (Double(period) / Double(rate) * 10_000).rounded() / 10
      let found = "answers: \(rate) Hz, period \(period) (\(milliseconds) ms)"
      let dropouts = "other programs then interrupt the sound: dropouts"
      switch scheduling {
      case .realtime: return .ok(subject, found)
      case .refusedToClients:
        return .fault(
          subject, found + "; it is realtime, but its clients of this user are not", because: dropouts,
          remedy: Self.joinAudio)
      case .none:
        return .warning(
          subject, found + "; it runs without realtime scheduling", because: dropouts,
          remedy: "start it without -r: jackd -R -d alsa")
      }
    case .refuses(let why):
      if let other = others.first {
        return .warning(
          subject, "\(why); jackd runs as \(others.joined(separator: ", "))",
          because: "Pinna joins the server that it is told, or the default one",
          remedy: "name it: --server \(other), or JACK_DEFAULT_SERVER=\(other) for all programs")
      }
      return .warning(
        subject, why, because: "Pinna waits for one: its sound needs a server",
        remedy: !fits
          ? "see libjack" : library.isPipeWire ? "systemctl --user start pipewire" : "jackd -d alsa")
    case .hangs:
      return .fault(
        subject, "takes connections, but does not answer", because: "no program can join its graph",
        remedy: library.isPipeWire ? "systemctl --user restart pipewire" : "killall jackd, and start it again"
      )
    }
  }

  private func sharedMemory(hasJack: Bool) -> Finding {
    let subject = "shared memory"
    // What a server that ended well leaves is not counted: the list of servers, and the labels of ports.
    let left = names("/dev/shm").filter {
      $0.hasPrefix("jack") && $0 != "jack-shm-registry" && !$0.hasPrefix("jack_db-")
    }
    guard !left.isEmpty else { return .ok(subject, "no files of JACK's") }
    let files = left.count == 1 ? "1 file" : "\(left.count) files"
    guard !hasJack else { return .ok(subject, "\(files) of the running JACK server") }
    return .warning(
      subject, "\(files) of JACK servers that have gone, such as /dev/shm/\(left[0])",
      because: "a machine has room for eight servers, and those take places; locks in them stop new ones",
      remedy: "rm -r /dev/shm/jack*")
  }
}
