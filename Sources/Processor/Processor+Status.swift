import Acoustics
import JackClient
import Messages
import Realtime

extension Processor {
  private var reportedState: StatusReport.State {
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
    var preferred = change?.setting ?? wanted
    try? preferred.apply(deferredChanges)
    let statistics = readings.statistics
    let setting = inForce
    var report = StatusReport()
    report.state = reportedState
    report.server = serverState
    report.warnings = warnings.current
    report.preset = setting.preset
    report.device = setting.device.name
    report.input = .init(setting.device)
    report.dataSource = setting.selection.dataSource
    report.polarPattern = setting.selection.polarPattern
    report.inputOrientation = setting.selection.inputOrientation
    report.preferred.dataSource = preferred.selection.dataSource
    report.preferred.polarPattern = preferred.selection.polarPattern
    report.preferred.inputOrientation = preferred.selection.inputOrientation
    report.layout = setting.layout
    report.inputChannels = setting.selection.polarPattern.channels
    report.gainDB = setting.gain.value
    report.highPassHz = setting.highPass.frequency?.value
    report.muted = setting.muted
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
    report.calibrated = setting.device.calibration?.date
    report.rejectedSamples = statistics.rejectedSamples
    report.clippedSamples = statistics.clippedSamples
    report.unpreparedPeriods = statistics.unpreparedPeriods
    report.droppedPackets = droppedPackets
    report.take = state.take.map(\.take).map(StatusReport.TakeReport.init)
    report.lastTake = takes.last.map(StatusReport.LastTakeReport.init)
    report.closingTakes = takes.closing.filter { !$0.isDiscarded }.compactMap(\.take.path)
    report.change = change.map(StatusReport.PendingDeviceChange.init)
    report.playback = state.playback?.player.report
    report.controller = controller
    report.output = OutputReport(setting, monitor: monitor)
    report.connections = StatusReport.PortConnections.all(state.isInGraph ? graph.connections : [:])
    report.midi = midi
    return report
  }
}
