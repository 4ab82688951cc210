import Acoustics
import Recording

/// The answer to every change (S14).
struct ChangeReport: Encodable {
  let preset: String
  let dataSource: String
  let polarPattern: PolarPattern
  let inputOrientation: InputOrientation
  let layout: StereoLayout?
  let inputChannels: Int
  let gainDB: Double
  let muted: Bool

  init(_ setting: Setting) {
    preset = setting.preset
    dataSource = setting.selection.dataSource
    polarPattern = setting.selection.polarPattern
    inputOrientation = setting.selection.inputOrientation
    layout = setting.layout
    inputChannels = setting.selection.polarPattern.channels
    gainDB = setting.gain.value
    muted = setting.muted
  }
}

struct TakeAnswer: Encodable {
  let take: String
  let channels: Int
  /// The microphones' file.
  var microphones: String?
  /// Not known at the start.
  var sidecar: String?
  var frames: Int?
  var seconds: Double?
  var clippedSamples: Int?
  var silencedSamples: Int?
  /// The server stood still so many times.
  var pauses: Int?
  /// The take is silent because the outputs are muted.
  var muted: Bool?
  /// How long the disk has room for.
  var secondsLeft: Int?

  /// At its start.
  init(_ take: TakeWriter, muted: Bool) {
    self.take = take.path
    channels = take.plan.outputs
    self.muted = muted
    secondsLeft = take.secondsLeft
  }

  /// At its end.
  init(_ result: TakeWriter.Result) {
    let document = result.sidecar
    take = result.path
    channels = document.channels
    let folder = String(result.path[...(result.path.lastIndex(of: "/") ?? result.path.startIndex)])
    microphones = document.files.first?.microphones.map { folder + $0 }
    sidecar = result.path.dropLast(4) + ".json"
    frames = document.frames
    seconds = Double(document.frames) / Double(document.sampleRate)
    clippedSamples = document.clippedSamples
    silencedSamples = document.silencedSamples
    pauses = document.pauses.count
  }
}
