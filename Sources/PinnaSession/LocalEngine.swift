import Control
import Dispatch
import FoundationEssentials
import Glibc
import JackWorld
import Messages
import PinnaRemote
import Presets
import Processor
import Settings
import Threads

/// A Pinna in this process: the same processor as `pinna run`, on a thread of its own. It has a control socket, so that
/// `pinna status --name NAME` works, too.
///
/// By default it uses the baseline kernels. For the faster kernels of newer processors, depend on the product
/// `PinnaFasterKernels` and call `FasterKernels.register()` before the first engine is created (docs/library.md has
/// figures). That product has compiler flags, which SwiftPM accepts from dependencies by branch, revision or path, but
/// not by version.
///
/// libjack shares a server's memory among all clients of a process. If a JACK server ends, the program must therefore
/// close its other JACK clients before the engine joins the next server.
public final class LocalEngine: SessionEngine, Sendable {
  public let socket: SocketEngine
  private let events: ControllerEvents
  private let ended = DispatchSemaphore(value: 0)
  private let controlThread = Locked<pthread_t?>(nil)

  /// Joins a JACK graph. It waits until the processor runs.
  /// - Parameters:
  ///   - name: name of the JACK client and of the control socket.
  ///   - server: name of the JACK server; nil for the default one.
  ///   - preset: the initial preset.
  ///   - connect: whether to connect microphones and outputs to the hardware ports, in order.
  ///   - presets: additional folders of presets, searched before the default ones.
  ///   - environment: environment variables that locate sockets and presets (`XDG_RUNTIME_DIR`, `PINNA_PRESETS` …).
  ///   - warn: called with a sentence for each later problem.
  /// - Throws: why the processor could not start.
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
    let failure = Locked<Failure?>(nil)
    let (started, ended, controlThread) = (DispatchSemaphore(value: 0), ended, controlThread)
    do {
      try BackgroundThread.start("pinna control") {
        controlThread.withLock { $0 = pthread_self() }
        do {
          let controller = try Self.controller(
            name, server, preset, connect, library, events, environment, warn, onStart: { started.signal() })
          if case .notStarted(let failure) = controller.run().end { throw failure }
        } catch { failure.withLock { $0 = Failure(error) } }
        started.signal()
        ended.signal()
      }
    } catch {
      ended.signal()
      throw SessionError(Failure(error))
    }
    started.wait()
    if let failure = failure.withLock({ $0 }) { throw SessionError(failure) }
  }

  /// Finalises a take in progress and leaves the graph. Waits until that is done, or for slightly longer than a stop may
  /// take; but not on the control thread, which `warn` runs on, because the stop is that thread's work.
  deinit {
    events.requestStop()
    if controlThread.withLock({ $0 }) != pthread_self() { _ = ended.wait(timeout: .now() + 65) }
  }

  private static func controller(
    _ name: String, _ server: String?, _ preset: String, _ connect: Bool, _ library: PresetLibrary,
    _ events: ControllerEvents, _ environment: [String: String],
    _ warn: @escaping @Sendable (String) -> Void, onStart: @escaping () -> Void
  ) throws -> Controller {
    let setting = try Setting(preset: preset, in: library)
    let socket = try ControlSocket(name: name, environment: environment)
    var options = JackWorld.Options(name: name, server: server)
    (options.connectsMicrophones, options.connectsOutputs) = (connect, connect)
    let processor = Processor(
      world: JackWorld(options, library: library, events: events), setting: setting, warn: warn)
    return Controller(
      socket: socket, processor: processor, events: events, onStart: onStart, tell: warn,
      warn: warn)
  }
}
