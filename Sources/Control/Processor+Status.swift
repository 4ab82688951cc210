import Acoustics
import JackClient
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
  ///
  /// Thread: control thread.
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
    try? preferred.apply(deferredChanges.filter { Setting.keys.dropFirst().contains($0.key) })
    let statistics = readings.statistics
    let setting = inForce
    return StatusReport(
      format: StatusReport.currentFormat,
      state: reportedState,
      server: serverState,
      warnings: warnings.current,
      preset: setting.preset, device: setting.device.name, input: .init(setting.device),
      dataSource: setting.selection.dataSource, polarPattern: setting.selection.polarPattern,
      inputOrientation: setting.selection.inputOrientation,
      preferred: .init(
        dataSource: preferred.selection.dataSource, polarPattern: preferred.selection.polarPattern,
        inputOrientation: preferred.selection.inputOrientation),
      layout: setting.layout, inputChannels: setting.selection.polarPattern.channels,
      gainDB: setting.gain.value, highPassHz: setting.highPass.frequency?.value, muted: setting.muted,
      listening: setting.listening,
      microphones: readings.microphones.count,
      sampleRate: client?.sampleRate ?? 0, period: readings.period, latencyFrames: readings.latencyFrames,
      dspLoad: readings.dspLoad, xruns: readings.xruns,
      levels: levels,
      mutedMicrophones: readings.mutedMicrophones,
      fallback: .init(fallback, microphones: readings.microphones),
      calibrated: setting.device.calibration?.date,
      rejectedSamples: statistics.rejectedSamples, clippedSamples: statistics.clippedSamples,
      unpreparedPeriods: statistics.unpreparedPeriods, droppedPackets: droppedPackets,
      take: state.take.map(\.take).map(StatusReport.TakeReport.init),
      lastTake: lastTake.map(StatusReport.LastTakeReport.init),
      closingTakes: closingTakes.filter { !$0.isDiscarded }.compactMap(\.take.path),
      change: change.map(StatusReport.PendingDeviceChange.init),
      playback: state.playback?.player.report, controller: controller,
      output: OutputReport(setting, monitor: monitor),
      connections: StatusReport.PortConnections.all(state.isInGraph ? graph.connections : [:]), midi: midi)
  }
}
