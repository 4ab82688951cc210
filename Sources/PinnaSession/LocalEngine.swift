import Control
import Foundation
import Presets
import Synchronization
import Threads

/// A Pinna in this process: the same processor as `pinna run`, on a thread of its own. It has a control socket like
/// any other, so that `pinna status --name NAME` works, too.
///
/// It runs on the baseline kernels, slower than those of newer processors (docs/library.md has figures), unless the program
/// depends on the product `PinnaFasterKernels` as well and calls `FasterKernels.register()` before it makes an engine.
/// Those carry compiler flags, which SwiftPM takes from dependencies by branch, revision or path, not by version.
///
/// Other JACK clients of the process must be closed when their server goes, before the engine finds the next one:
/// libjack shares a server's memory among a program's clients.
public final class LocalEngine: SessionEngine, Sendable {
  public let socket: SocketEngine
  private let events: ControllerEvents
  private let ended = DispatchSemaphore(value: 0)

  /// Joins a JACK graph.
  /// - Parameters:
  ///   - name: the JACK client's, and the control socket's.
  ///   - server: the JACK server; nil for the default one.
  ///   - preset: what to start with.
  ///   - connect: whether to connect microphones and outputs to the hardware, in order.
  ///   - presets: folders to look for presets in, before the usual ones.
  ///   - environment: says where sockets and presets are (`XDG_RUNTIME_DIR`, `PINNA_PRESETS` …).
  ///   - warn: hears a sentence about everything that goes wrong later.
  public init(
    name: String, server: String? = nil, preset: String = "phone5", connect: Bool = false,
    presets: [String] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment,
    warn: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SessionError) {
    socket = SocketEngine(name: name, environment: environment)
    let events = ControllerEvents()
    self.events = events
    let library = PresetLibrary(folders: presets + PresetLibrary(environment: environment).folders)
    let outcome = Outcome()
    let (started, ended) = (DispatchSemaphore(value: 0), ended)
    do {
      try BackgroundThread.start("pinna control") {
        do {
          let controller = try Self.controller(
            name, server, preset, connect, library, events, environment, warn, onStart: { started.signal() })
          if case .notStarted(let failure) = controller.run().end { throw failure }
        } catch { outcome.failure.withLock { $0 = Failure(error) } }
        started.signal()
        ended.signal()
      }
    } catch {
      ended.signal()
      throw SessionError(Failure(error))
    }
    started.wait()
    let failure = outcome.failure.withLock { $0 }
    if let failure { throw SessionError(failure) }
  }

  /// Leaves the graph; a take is finalised.
  deinit {
    events.requestStop()
    ended.wait()
  }

  private final class Outcome: Sendable { let failure = Mutex<Failure?>(nil) }

  private static func controller(
    _ name: String, _ server: String?, _ preset: String, _ connect: Bool, _ library: PresetLibrary,
    _ events: ControllerEvents, _ environment: [String: String],
    _ warn: @escaping @Sendable (String) -> Void, onStart: @escaping () -> Void
  ) throws -> Controller {
    let preset = try library.preset(named: preset)
    let setting = Setting(preset: preset, device: try library.device(named: preset.device))
    let socket = try ControlSocket(name: name, environment: environment)
    var options = JackWorld.Options(name: name, server: server)
    options.connect = connect
    let processor = Processor(
      world: JackWorld(options, library: library, events: events), setting: setting, warn: warn)
    return Controller(
      socket: socket, processor: processor, events: events, onStart: onStart, tell: warn,
      warn: warn)
  }
}
