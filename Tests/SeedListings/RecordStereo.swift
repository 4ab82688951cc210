// Seed 001: "Record stereo audio with AVAudioSession", its three listings. Ellipses are filled in from the
// text around them; UIKit is stubbed.

import PinnaSession

final class RecordController {
  enum State { case stopped, recording }

  let session = AudioSession.sharedInstance()
  var recorder: AudioRecorder { AudioRecorder(session) }
  var state: State { recorder.state == .recording ? .recording : .stopped }

  // How to set up recording from the built-in mic
  func enableBuiltInMic() {
    do {
      try session.setCategory(.playAndRecord)
      try session.setActive(true)
    } catch {
      print("Unable to set up the session: \(error)")
    }
    // Find the built-in microphone.
    guard let availableInputs = session.availableInputs,
      let builtInMic = availableInputs.first(where: { $0.portType == .builtInMic })
    else {
      print("The device must have a built-in microphone.")
      return
    }
    do {
      try session.setPreferredInput(builtInMic)
      // Size your buffers dynamically: activate your audio session and check that input channel count property.
      print("channels: \(session.inputNumberOfChannels)")
    } catch {
      print("Unable to set the built-in mic as the preferred input.")
    }
  }

  // Configure stereo recording
  func selectDataSource(named name: String, orientation: Orientation, completion: (StereoLayout) -> Void) {
    guard let preferredInput = session.preferredInput, let dataSources = preferredInput.dataSources,
      let newDataSource = dataSources.first(where: { $0.dataSourceName == name })
    else {
      completion(.none)
      return
    }
    do {
      // Set the preferred polar pattern to stereo.
      try newDataSource.setPreferredPolarPattern(.stereo)
      // Set the preferred data source and polar pattern.
      try preferredInput.setPreferredDataSource(newDataSource)
      // Update the input orientation to match the current user interface orientation.
      try session.setPreferredInputOrientation(orientation.inputOrientation)
    } catch {
      print("Unable to select the \(name) data source.")
    }
    completion(
      StereoLayout(orientation: newDataSource.orientation!, stereoOrientation: session.inputOrientation))
  }
}

final class RecordViewController: UIViewController {
  let controller = RecordController()
  let dataSources = ["Front", "Back"]
  let dataSourceChooser = UISegmentedControl()
  let layoutView = StereoLayoutView()
  var windowOrientation = Orientation.portrait

  // When to select a data source & updated the stereo input orientation
  override func traitCollectionDidChange(_ previousTraitCollection: UITraitCollection?) {
    updateDataSource()
  }

  func updateDataSourceSelection(_ sender: Any) {
    updateDataSource()
  }

  private func updateDataSource() {
    // Don't update the data source if the app is currently recording.
    guard controller.state != .recording else { return }
    let dataSourceName = dataSources[dataSourceChooser.selectedSegmentIndex]
    controller.selectDataSource(
      named: dataSourceName, orientation: Orientation(windowOrientation)
    ) { layout in self.layoutView.layout = layout }
  }
}
