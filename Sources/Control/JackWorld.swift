import Acoustics
import Foundation
import JackClient
import Numerics
import Presets
import Realtime
import Recording
import Rendering
import Synchronization

/// The world as it is: a JACK server, a disk, a clock.
package final class JackWorld: AudioWorld {
  package struct Options: Sendable {
    package var name: String
    package var server: String?
    /// Whether microphones and outputs are connected to the hardware when Pinna joins its first graph.
    package var connect = false
    package var preRollSeconds = 0
    package var instructionSet = InstructionSet.best
    /// Ports that the outputs go to, left and right.
    package var monitor: [String] = []

    package init(name: String, server: String?) { (self.name, self.server) = (name, server) }
  }

  private let options: Options
  private let presets: PresetReader
  private let events: ControllerEvents
  private let progress: @Sendable (_ device: String) -> @Sendable (Double) -> Void
  /// Outlives clients: what was connected is connected again in the next graph.
  private let memory = ConnectionMemory()

  /// - Parameter progress: for each device whose filters are designed, whoever hears how far that is, from 0 to 1.
  package init(
    _ options: Options, library: PresetLibrary, events: ControllerEvents,
    progress: @escaping @Sendable (_ device: String) -> @Sendable (Double) -> Void = { _ in { _ in } }
  ) {
    self.options = options
    presets = PresetReader(library)
    self.events = events
    self.progress = progress
  }

  package var now: ContinuousClock.Instant { .now }

  package func setting(ofPreset name: String) -> Job<Setting> { presets.setting(ofPreset: name) }

  package func openClient() -> Job<any AudioClient> {
    let (options, events, memory) = (options, events, memory)
    return Job.start("pinna joins") { _ in try JackAudioClient(options, events: events, memory: memory) }
  }

  package func design(_ device: Device, sampleRate: Int) -> Job<any DeviceFilters> {
    let progress = progress(device.name)
    let cancellation = DesignCancellation()
    return Job.start("pinna design", onAbandon: cancellation.cancel) { job in
      try FilterSets(device: device, sampleRate: sampleRate, cancellation: cancellation) { part in
        job.report(progress: part)
        progress(part)
      }
    }
  }

  package func openTake(_ request: TakeRequest, _ setting: Setting, on client: any AudioClient)
    -> any TakeRecording
  {
    TakeWriter(folder: request.folder, plan: (client as! JackAudioClient).plan(request.options, setting))
  }

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

/// Connections of our ports, and which of them a choice of output made. The workers of one client after another use it.
package final class ConnectionMemory: Sendable {
  package struct Connections {
    package var wiring = Wiring()
    /// Which capture ports the devices' microphones were connected to by us.
    var placement = ArrayClient.Placement()
    var route = OutputRoute()
    /// Servers that have gone.
    fileprivate var losses = 0
    /// What the client before had asked for.
    fileprivate var asked: Set<Wiring.Wire> = []
  }

  package let connections = Mutex(Connections())

  package init() {}

  /// `run --connect` has been done.
  let hasConnected = Atomic<Bool>(false)

  /// Everything goes with the server, and is to be made again in the next graph.
  /// - Parameter asked: connections that were asked for, whether a look has seen them or not.
  package func loseAll(_ asked: Set<Wiring.Wire>) {
    connections.withLock {
      $0.wiring.loseAll(asked)
      $0.losses += 1
      $0.asked = asked
    }
  }

  /// What a look has found. A server that went while it looked took that along, too.
  package func store(_ seen: Connections) {
    connections.withLock { connections in
      let (losses, asked) = (connections.losses, connections.asked)
      connections = seen
      if seen.losses != losses { connections.wiring.loseAll(asked) }
      (connections.losses, connections.asked) = (losses, asked)
    }
  }
}
