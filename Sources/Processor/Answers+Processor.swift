import Acoustics
import Messages
import Recording

extension ChangeReport {
  package init(_ setting: Setting, kept: String? = nil) {
    self.init()
    self.kept = kept
    input = setting.device.uid
    preset = setting.preset
    dataSource = setting.selection.dataSource
    polarPattern = setting.selection.polarPattern
    inputOrientation = setting.selection.inputOrientation
    layout = setting.layout
    inputChannels = setting.selection.polarPattern.channels
    gainDB = setting.gain.value
    highPassHz = setting.highPass.frequency?.value
    muted = setting.muted
    listening = setting.listening
  }
}

extension TakeStartAnswer {
  init(
    _ take: any TakeRecording, isArmed: Bool, muted: Bool, unconnected: [String], microphoneCount: Int,
    missing: [StatusReport.FallbackReport.Missing]
  ) {
    self.init()
    self.missing = missing.filter { $0.fault != .unconnected }
    let path = take.path ?? ""
    self.take = path
    armed = isArmed ? true : nil
    channels = take.plan.outputs
    convertedTake = take.plan.convertedFormat.map { path.replacing(/wav$/, with: $0) }
    let obstacle = take.plan.conversionObstacle.map { "it stays WAV: \($0)" }
    notes = [take.plan.shortRingNote, obstacle].compactMap { $0 }
    self.muted = muted
    self.unconnected = unconnected
    self.microphoneCount = microphoneCount
    secondsLeft = take.secondsLeft
  }
}

extension TakeAnswer {
  /// - Parameter more: notes that the sidecar does not contain.
  init(_ result: TakeWriter.Result, notes more: [String]) {
    self.init()
    let document = result.sidecar
    take = result.path
    channels = document.channels
    let folder = String(result.path[...(result.path.lastIndex(of: "/") ?? result.path.startIndex)])
    microphones = document.files.first?.microphones.map { folder + $0 }
    sidecar = result.path[..<(result.path.lastIndex(of: ".") ?? result.path.endIndex)] + ".json"
    frames = document.frames
    seconds = Double(document.frames) / Double(document.sampleRate)
    clippedSamples = document.clippedSamples
    silencedSamples = document.silencedSamples
    pauses = document.pauses.count
    notes = document.notes + more
  }
}

extension MarkerAnswer {
  init(_ number: Int, _ marker: Sidecar.Marker, sampleRate: Int) {
    self.init()
    self.marker = number
    label = marker.label
    frame = marker.frame
    seconds = Double(marker.frame) / Double(sampleRate)
  }
}
