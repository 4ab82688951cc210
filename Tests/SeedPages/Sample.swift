// What three listings of a sample need around them, and calls that compare with the program "stereo".

import PinnaSession

struct RecordingOption { let dataSourceName: String }

struct Orientation { let inputOrientation: InputOrientation }

enum StereoLayout: CustomStringConvertible {
  case none
  case drawn(PinnaSession.StereoLayout)

  init(orientation: PinnaSession.Orientation, stereoOrientation: InputOrientation) {
    self = AudioSession.sharedInstance().stereoLayout.map(Self.drawn) ?? .none
  }

  var description: String {
    guard case .drawn(let layout) = self else { return "no edges" }
    return "left \(layout.left.rawValue), right \(layout.right.rawValue)"
  }
}

final class Sample {
  var isStereoSupported = false

  func prepare() {
    setupAudioSession()
    enableBuiltInMic()
  }

  // LISTING 1
  // LISTING 2
  // LISTING 3
}

let sample = Sample()
sample.prepare()
for name in ["Front", "Back", "Bottom", "Elsewhere"] {
  for held in InputOrientation.allCases {
    sample.isStereoSupported = false
    sample.selectRecordingOption(
      RecordingOption(dataSourceName: name), orientation: Orientation(inputOrientation: held)
    ) { print("\(name), \(held.rawValue): \($0), stereo: \(sample.isStereoSupported)") }
  }
}
