import Acoustics
import Glibc
import JackClient
import Messages
import Realtime
import Settings

extension Processor {
  /// What is wanted, with the case whose filters are being designed for `main`.
  package var asked: Setting {
    var setting = wanted
    if let aim = onDemand.aim { setting.main.selection = aim.selection }
    return setting
  }

  private var reportedState: StatusFields.State {
    switch state {
    case .armed: .armed
    case _ where state.take != nil: .recording
    default: state.playback != nil ? .playing : .stopped
    }
  }

  /// The answer to `status`.
  /// - Parameters:
  ///   - droppedPackets: number of packets that the control socket dropped.
  ///   - deferredChanges: the command line's changes that are deferred while a session controls the route.
  ///   - controller: the name of that session; nil if the route is free.
  ///   - midi: what MIDI messages do.
  package func status(
    droppedPackets: Int, deferredChanges: [Change], controller: String?, midi: MIDIReport? = nil
  ) -> StatusReport {
    let readings = client?.readings ?? Readings()
    var preferred = change?.setting ?? asked
    try? preferred.apply(deferredChanges)
    let statistics = readings.statistics
    let setting = inForce
    var report = StatusReport(setting.main.reported, StatusFields())
    report.state = reportedState
    report.server = serverState
    report.warnings = warnings.current
    report.preset = setting.preset
    report.device = setting.device.name
    report.input = .init(setting.device)
    report.tracker = trackerReport
    report.weak = weakness(of: setting.main.selection, on: setting.device)
    report.designing = onDemand.aim?.selection.effectiveLook
    report.preferred = .init(preferred.main.selection)
    report.layout = setting.layout
    report.inputChannels = setting.main.selection.polarPattern.outputs
    report.adaptationText = readings.adaptation
    report.adaptationLoad = readings.adaptationLoad
    report.windText = readings.wind
    report.talkers = talkerReports(readings)
    report.talkersText = talkersText(readings)
    report.seats = setting.seats.isEmpty ? nil : setting.seats.map(\.word)
    report.listening = setting.listening
    report.microphones = readings.microphones.count
    report.sampleRate = client?.sampleRate ?? 0
    report.period = readings.period
    report.latencyFrames = readings.latencyFrames
    report.dspLoad = readings.dspLoad
    report.xruns = readings.xruns
    report.levels = levels
    report.mutedMicrophones = readings.mutedMicrophones
    report.fallback = .init(fallback, microphones: readings.microphones)
    if fallback.preparation.hasBegun {
      report.preparedFallbacks = setting.device.microphones.map(\.name).filter(
        fallback.preparation.ready.contains)
    }
    report.calibrated = setting.device.calibration?.date
    report.calibratedFrom = setting.device.calibration?.source
    report.rejectedSamples = statistics.rejectedSamples
    report.clippedSamples = statistics.clippedSamples
    report.unpreparedPeriods = statistics.unpreparedPeriods
    report.droppedPackets = droppedPackets
    if ArrayClient.abandonedClients > 0 { report.abandonedClients = ArrayClient.abandonedClients }
    report.take = state.take.map(\.take).map(StatusFields.TakeReport.init)
    report.lastTake = takes.last.map(StatusFields.LastTakeReport.init)
    report.closingTakes = takes.closing.filter { !$0.isDiscarded }.compactMap(\.take.path)
    report.change = change.map(StatusFields.PendingDeviceChange.init)
    if case .joining(_, let job) = state {
      report.change = .init(inForce, progress: job.progress ?? 0)
    }
    report.playback = state.playback?.player.report
    report.controller = controller
    report.output = OutputReport(setting, monitor: monitor)
    report.connections = StatusFields.PortConnections.all(state.isInGraph ? graph.connections : [:])
    report.midi = midi
    report.feeds = feedReports.isEmpty ? nil : feedReports
    // Before the first look at the graph, connections are unknown.
    let silence = state.isInGraph && graph.checkNumber == 0 ? nil : report.silenceFound
    report.silence = silence.map { "\($0.reason); \($0.remedy)" }
    return report
  }
}

extension StatusFields.NamedLevel {
  init(_ name: String, _ level: Level) {
    self.init()
    self.name = name
    rmsDB = Self.decibels(level.rms)
    peakDB = Self.decibels(level.peak)
  }

  /// Silence is −150 dB, because JSON has no infinity.
  static func decibels(_ amplitude: Float) -> Double {
    max(-150, (200 * log10(Double(amplitude))).rounded() / 10)
  }
}

extension StatusFields.Levels {
  init(_ readings: Readings, correlation: Float?) {
    self.init()
    microphones = zip(readings.microphones, readings.levels).map { StatusFields.NamedLevel($0, $1) }
    outputs = zip(ArrayClient.outputNames, readings.levels.suffix(2)).map { StatusFields.NamedLevel($0, $1) }
    self.correlation = correlation.map { (Double($0) * 100).rounded() / 100 }
  }
}

extension StatusFields.PendingDeviceChange {
  init(_ setting: Setting, progress: Double) {
    self.init()
    (device, preset) = (setting.device.name, setting.preset)
    self.progress = (progress * 100).rounded() / 100
  }
}

extension StatusFields.TakeReport {
  init(_ take: any TakeRecording) {
    self.init()
    title = take.title.isEmpty ? nil : take.title
    markers = take.markers
    (feeds, raw) = (take.plan.feedNames, take.plan.options.raw)
    path = take.path ?? "a take that is being opened"
    frames = take.frames
    channels = take.plan.outputs
    fault = take.fault
    loss = take.loss
    secondsLeft = take.secondsLeft
    length = take.plan.options.length
  }
}

extension StatusFields.LastTakeReport {
  init(_ take: EndedTake) {
    self.init()
    path = take.result.path
    frames = take.result.frames
    fault = take.result.fault
    endedBecause = take.cause?.text
  }
}

extension StatusFields.FallbackReport {
  /// Nil if every microphone works and the filters in force use all of them.
  init?(_ fallback: Fallback, microphones: [String]) {
    self.init()
    missing = microphones.compactMap { name in
      fallback.watch.missing[name].map { Missing(name: name, fault: $0) }
    }
    without = microphones.filter(fallback.inForce.contains)
    if 2 * missing.count > microphones.count {
      obstacle = "more than half of the microphones are missing"
    } else {
      let names = Set(missing.map(\.name))
      obstacle = fallback.failure.flatMap { $0.missing == names ? $0.reason : nil }
    }
    if missing.isEmpty, without.isEmpty { return nil }
  }
}

extension StatusFields.PendingDeviceChange {
  init(_ change: DeviceChange) {
    self.init()
    device = change.setting.device.name
    preset = change.setting.preset
    if case .designing(let job) = change.phase { progress = job.progress ?? 0 } else { progress = 1 }
  }
}

extension StatusFields.PortConnections {
  static func all(_ connections: [String: Set<String>]) -> [Self] {
    connections.sorted { $0.key < $1.key }.map { Self(port: $0, peers: $1.sorted()) }
  }
}

extension OutputReport {
  /// - Parameter monitor: the ports of `pinna run --monitor`.
  init(_ setting: Setting, monitor: [String]) {
    self.init()
    choice = setting.output
    (ports, portType) = setting.outputTarget(monitor: monitor)
  }
}
