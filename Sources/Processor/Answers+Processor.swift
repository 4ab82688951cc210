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
    inputChannels = setting.selection.polarPattern.outputs
    gainDB = setting.gain.value
    highPassHz = setting.highPass.frequency?.value
    muted = setting.muted
    listening = setting.listening
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
