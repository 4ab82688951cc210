// What three listings of a talk need around them, and calls that compare with the program "recorder".

import PinnaSession

struct Orientation {
  let inputOrientation: InputOrientation
  init(_ orientation: InputOrientation) { inputOrientation = orientation }
}

final class Controller {
  enum State { case recording, other }

  let session = AudioSession.sharedInstance()
  var recorder: AudioRecorder { AudioRecorder(session) }
  var state: State { recorder.state == .recording ? .recording : .other }

  func prepare() throws {
    try session.setCategory(.playAndRecord)
    try session.setActive(true)
    enableBuiltInMic()
    print("channels: \(session.inputNumberOfChannels)")
  }

  var shown: String {
    guard let layout = session.stereoLayout else { return "no edges" }
    return "left \(layout.left.rawValue), right \(layout.right.rawValue), stereo: true"
  }

  // LISTING 1
  // LISTING 2
}

class UITraitCollection {}

class UIViewController { func traitCollectionDidChange(_ before: UITraitCollection?) {} }

final class Segments { var selectedSegmentIndex = 0 }

final class Picture { var layout = "" }

final class Screen: UIViewController {
  let controller = Controller()
  let dataSources = ["Front", "Back"]
  let dataSourceChooser = Segments()
  let layoutView = Picture()
  var windowOrientation = InputOrientation.portrait

  // LISTING 3
}

let screen = Screen()
try screen.controller.prepare()
for (index, name) in screen.dataSources.enumerated() {
  screen.dataSourceChooser.selectedSegmentIndex = index
  for held in InputOrientation.allCases {
    screen.windowOrientation = held
    screen.traitCollectionDidChange(nil)
    print("\(name), \(held.rawValue): \(screen.layoutView.layout)")
  }
}
try screen.controller.recorder.record()
screen.windowOrientation = .portrait
screen.dataSourceChooser.selectedSegmentIndex = 0
screen.updateDataSourceSelection(screen)
print("recording: \(screen.layoutView.layout)")
try screen.controller.recorder.stop()
