import Acoustics
import Glibc
import JackClient
import Messages
import Numerics
import Presets
import Processor
import Realtime
import Recording
import Rendering
import Settings
import Synchronization
import Threads

/// The real environment of the processor: a JACK server, a disk, a clock.
///
/// Thread: control thread.
package final class JackWorld: AudioWorld {
  package struct Options: Sendable {
    package var name: String
    package var server: String?
    /// Whether to connect microphones, and outputs, to physical ports when Pinna joins its first graph.
    package var connectsMicrophones = false
    package var connectsOutputs = false
    package var preRollSeconds = 0
    package var instructionSet = InstructionSet.best
    /// Playback ports to connect the outputs to, left and right.
    package var monitor: [String] = []
    /// A client whose output ports the microphones are connected to, in order, when it is there.
    package var source: String?
    /// Whether the outputs' connections to others are restored even after those quit.
    package var keepsConnections = false
    /// Where connections and the setting are kept from one run to the next; nil for nowhere.
    package var runMemory: RunMemoryFile?
    /// The connections of the last run, to restore.
    package var lastConnections: [Wiring.Wire] = []
    /// The folder for takes that name none; nil for the standard one.
    package var takesFolder: String?
    /// Whether to look for talkers all the time.
    package var findsTalkers = false

    package init(name: String, server: String?) { (self.name, self.server) = (name, server) }
  }

  private var options: Options
  private let library: PresetLibrary
  private let readSetting: @Sendable (_ preset: String, PresetLibrary) throws -> Setting
  /// Workers, because the disk of what they read may hang.
  private let presets = LazyWorker("pinna presets")
  private let lists = LazyWorker("pinna lists")
  /// Designs, one at a time: each has all cores. Those that nobody waits for have a thread of lower priority.
  private let designs = LazyWorker("pinna design")
  private let preparations = LazyWorker("pinna prepares")
  private let events: ControllerEvents
  private let progress: @Sendable (_ device: String) -> @Sendable (Double) -> Void
  /// Outlives clients, so that connections are restored in the next graph.
  private let memory: ConnectionMemory

  /// - Parameters:
  ///   - readSetting: reads a preset with its device. Runs on the worker for presets.
  ///   - progress: returns a closure that receives the progress of a device's filter design, from 0 to 1. That closure
  ///     runs on the design's thread.
  package init(
    _ options: Options, library: PresetLibrary, events: ControllerEvents,
    readSetting: @escaping @Sendable (_ preset: String, PresetLibrary) throws -> Setting = {
      try Setting(preset: $0, in: $1)
    },
    progress: @escaping @Sendable (_ device: String) -> @Sendable (Double) -> Void = { _ in { _ in } }
  ) {
    self.options = options
    var wiring = Wiring(
      keepsOutputs: options.keepsConnections, isPipeWire: JackLibrary.isPipeWire)
    wiring.restore(options.lastConnections)
    memory = ConnectionMemory(wiring)
    self.library = library
    self.events = events
    self.readSetting = readSetting
    self.progress = progress
  }

  package var now: ContinuousClock.Instant { .now }

  package func setting(ofPreset name: String) -> Job<Setting> {
    presets.job { [library, readSetting] in try readSetting(name, library) }
  }

  package func names(of list: NameList, most: Int) -> Job<[String]> {
    lists.job { [library, takesFolder] in
      switch list {
      case .presets: library.presetNames()
      case .banks: library.bankNames()
      case .devices: library.deviceNames()
      case .takes: TakeFolder(path: takesFolder).newestNames(most)
      }
    }
  }

  package func midiSetup(bank: String?) -> Job<MIDISetup> {
    lists.job { [library] in try MIDISetup(library, bank: bank) }
  }

  package func path(ofTake name: String) -> Job<String> {
    lists.job { [takesFolder] in try TakeFolder(path: takesFolder).path(ofTake: name) }
  }

  package func openClient() -> Job<any AudioClient> {
    let (options, events, memory) = (options, events, memory)
    return Job.start("pinna joins") { _ in try JackAudioClient(options, events: events, memory: memory) }
  }

  package func probePeriods() -> Job<Bool>? {
    // jackd drives all clients together: it stalls for all or for none.
    guard JackLibrary.isPipeWire else { return nil }
    let server = options.server
    return Job.start("pinna probe") { _ in ServerProbe.runsPeriods(server: server) }
  }

  package func forgetConnections() -> Int { memory.forgetAbsent() }

  package var restorableConnections: [Wiring.Wire] { memory.restorable }

  package func replaceConnections(with connections: [Wiring.Wire]) { memory.replace(with: connections) }

  package func rename(to name: String) { options.name = name }

  package var takesFolder: String? {
    get { options.takesFolder }
    set { options.takesFolder = newValue }
  }

  package func design(_ device: Device, sampleRate: Int) -> Job<FilterSets> {
    let progress = progress(device.name)
    let cancellation = DesignCancellation()
    return designs.job(onAbandon: cancellation.cancel) { job in
      defer { FreeMemory.giveBack() }
      return try FilterSets(device: device, sampleRate: sampleRate, cancellation: cancellation) { part in
        job.report(progress: part)
        progress(part)
      }
    }
  }

  package func designNearby(_ device: Device, sampleRate: Int) -> Job<FilterSets> {
    let cancellation = DesignCancellation()
    return preparations.job(onAbandon: cancellation.cancel) { _ in
      BackgroundThread.lowerPriority()
      defer { FreeMemory.giveBack() }
      return try FilterSets(device: device, sampleRate: sampleRate, cancellation: cancellation)
    }
  }

  package func fallback(
    for device: Device, without missing: Set<String>, sampleRate: Int
  ) -> Job<FilterSets> {
    let cancellation = DesignCancellation()
    return designs.job(onAbandon: cancellation.cancel) { job in
      defer { FreeMemory.giveBack() }
      return try FilterSets(
        fallbackFor: device, without: missing, sampleRate: sampleRate, cancellation: cancellation,
        progress: job.report)
    }
  }

  package func prepareFallback(
    for device: Device, without microphone: String, sampleRate: Int
  ) -> Job<Void> {
    let cancellation = DesignCancellation()
    return preparations.job(onAbandon: cancellation.cancel) { _ in
      BackgroundThread.lowerPriority()
      defer { FreeMemory.giveBack() }
      _ = try FilterSets(
        fallbackFor: device, without: [microphone], sampleRate: sampleRate, cancellation: cancellation)
    }
  }

  package func keepAwake() -> any SleepInhibitor { LogindInhibitor(name: options.name) }

  package func openPlayback(_ path: String, sampleRate: Int) -> any TakePlayback {
    TakePlayer(path: path, sampleRate: sampleRate)
  }
}

extension TakeWriter: TakeRecording {}

extension TakePlayer: TakePlayback {
  package var report: PlaybackReport {
    PlaybackReport(
      playing: path, frames: frames, channels: channels, framesPlayed: ring?.framesPlayed ?? 0,
      missedFrames: ring?.missedFrames ?? 0)
  }
}
