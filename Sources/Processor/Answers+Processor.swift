import Acoustics
import Messages
import Recording
import Settings

extension ChangeReport {
  package init(_ setting: Setting, kept: String? = nil) {
    self.init(setting.main.reported, ChangeFields())
    self.kept = kept
    self.input = setting.device.uid
    self.preset = setting.preset
    self.layout = setting.layout
    self.inputChannels = setting.main.selection.polarPattern.outputs
    self.listening = setting.listening
    self.seats = setting.seats.isEmpty ? nil : setting.seats.map(\.word)
  }
}

extension Processor {
  /// The answer to a change: the setting in force.
  package func changeReport(kept: String? = nil) -> ChangeReport {
    var report = ChangeReport(inForce, kept: kept)
    report.weak = weakness(of: inForce.main.selection, on: inForce.device)
    return report
  }

  /// What the filters of a look are weak in; nil for others.
  func weakness(of selection: Selection, on device: Device) -> String? {
    guard selection.effectiveLook != nil, let filters else { return nil }
    return onDemand.choice.weakness(of: selection, of: device, sampleRate: filters.sampleRate)
  }
}

extension TakeAnswer {
  /// - Parameter more: notes that the sidecar does not contain.
  init(_ result: TakeWriter.Result, notes more: [String]) {
    self.init()
    let document = result.sidecar
    take = result.path
    let first = document.files.first
    channels = first?.outputs == nil ? document.feeds?.first?.channels.count ?? 0 : document.channels
    let folder = String(result.path[...(result.path.lastIndex(of: "/") ?? result.path.startIndex)])
    microphones = first?.microphones.map { folder + $0 }
    feeds = first?.feeds.map { files in
      files.sorted { $0.key < $1.key }.map { FeedFile(name: $0.key, path: folder + $0.value) }
    }
    sidecar = folder + result.sidecarName
    frames = document.frames
    seconds = Double(document.frames) / Double(document.sampleRate)
    clippedSamples = document.clippedSamples
    silencedSamples = document.silencedSamples
    pauses = document.pauses.count
    notes = document.notes + more
  }
}
