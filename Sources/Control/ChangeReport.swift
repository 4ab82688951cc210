import Acoustics

/// The answer to every change (S14).
struct ChangeReport: Encodable {
  let preset: String
  let dataSource: String
  let polarPattern: PolarPattern
  let inputOrientation: InputOrientation
  let layout: StereoLayout?
  let inputChannels: Int

  init(_ setting: Setting) {
    preset = setting.preset
    dataSource = setting.selection.dataSource
    polarPattern = setting.selection.polarPattern
    inputOrientation = setting.selection.inputOrientation
    layout = setting.layout
    inputChannels = setting.selection.polarPattern.channels
  }
}

struct TakeAnswer: Encodable {
  let take: String
  let channels: Int
  var frames: Int?
}
