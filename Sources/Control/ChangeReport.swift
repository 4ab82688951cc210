import Acoustics

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
  var frames: Int?
  /// The take is silent because the outputs are muted.
  var muted: Bool?
}
