import Acoustics
import JackClient
import Realtime

extension Processor {
  /// What is in force, and how it goes.
  /// - Parameters:
  ///   - wish: what the command line asked for and a session that controls the route keeps from it.
  ///   - controller: the name of that session.
  func status(droppedPackets: Int, wish: [Change], controller: String?) -> StatusReport {
    let levels = engine.levels
    var preferred = wanted
    try? preferred.apply(wish.filter { Setting.keys.dropFirst().contains($0.key) })
    let statistics = engine.statistics
    let setting = inForce
    return StatusReport(
      state: take != nil ? "recording" : playback != nil ? "playing" : "stopped", server: serverState,
      warnings: warnings.current,
      preset: setting.preset, device: setting.device.name, input: .init(setting.device),
      dataSource: setting.selection.dataSource, polarPattern: setting.selection.polarPattern,
      inputOrientation: setting.selection.inputOrientation,
      preferred: .init(
        dataSource: preferred.selection.dataSource, polarPattern: preferred.selection.polarPattern,
        inputOrientation: preferred.selection.inputOrientation),
      layout: setting.layout, inputChannels: setting.selection.polarPattern.channels,
      gainDB: setting.gain.value, muted: setting.muted, microphones: sets.bank.microphones.count,
      sampleRate: client.sampleRate, period: client.period, latencyFrames: sets.bank.delayFrames,
      dspLoad: client.dspLoad, xruns: client.xruns,
      levels: .init(
        microphones: zip(sets.bank.microphones, levels).map { .init($0, $1) },
        outputs: zip(ArrayClient.outputNames, levels.suffix(2)).map { .init($0, $1) }),
      mutedMicrophones: sets.bank.microphones.enumerated().filter { engine.isMuted(microphone: $0.offset) }
        .map(\.element),
      rejectedSamples: statistics.rejectedSamples, clippedSamples: statistics.clippedSamples,
      unpreparedPeriods: statistics.unpreparedPeriods, droppedPackets: droppedPackets,
      take: take.map {
        .init(
          path: $0.path ?? "", frames: $0.frames, channels: $0.plan.outputs, fault: $0.fault,
          secondsLeft: $0.secondsLeft)
      }, playback: playback.map { PlaybackReport($0.player) }, controller: controller,
      output: OutputReport(choice: setting.output, portType: output.type, ports: output.target))
  }
}
