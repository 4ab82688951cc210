// Seeds 000 and 004: "Capturing stereo audio from built-in microphones", its three listings line by line,
// with AudioSession in place of AVAudioSession.

import PinnaSession

final class AudioController {
  var isStereoSupported = false

  func prepare() {
    setupAudioSession()
    enableBuiltInMic()
  }

  func setupAudioSession() {
    do {
      let session = AudioSession.sharedInstance()
      try session.setCategory(.playAndRecord, options: [.defaultToSpeaker, .allowBluetooth])
      try session.setActive(true)
    } catch {
      fatalError("Failed to configure and activate session.")
    }
  }

  private func enableBuiltInMic() {
    // Get the shared audio session.
    let session = AudioSession.sharedInstance()

    // Find the built-in microphone input.
    guard let availableInputs = session.availableInputs,
      let builtInMicInput = availableInputs.first(where: { $0.portType == .builtInMic })
    else {
      print("The device must have a built-in microphone.")
      return
    }

    // Make the built-in microphone input the preferred input.
    do {
      try session.setPreferredInput(builtInMicInput)
    } catch {
      print("Unable to set the built-in mic as the preferred input.")
    }
  }

  func selectRecordingOption(
    _ option: RecordingOption, orientation: Orientation, completion: (StereoLayout) -> Void
  ) {

    // Get the shared audio session.
    let session = AudioSession.sharedInstance()

    // Find the built-in microphone input's data sources,
    // and select the one that matches the specified name.
    guard let preferredInput = session.preferredInput,
      let dataSources = preferredInput.dataSources,
      let newDataSource = dataSources.first(where: { $0.dataSourceName == option.dataSourceName }),
      let supportedPolarPatterns = newDataSource.supportedPolarPatterns
    else {
      completion(.none)
      return
    }

    do {
      isStereoSupported = supportedPolarPatterns.contains(.stereo)
      // If the data source supports stereo, set it as the preferred polar pattern.
      if isStereoSupported {
        // Set the preferred polar pattern to stereo.
        try newDataSource.setPreferredPolarPattern(.stereo)
      }

      // Set the preferred data source and polar pattern.
      try preferredInput.setPreferredDataSource(newDataSource)

      // Update the input orientation to match the current user interface orientation.
      try session.setPreferredInputOrientation(orientation.inputOrientation)

    } catch {
      fatalError("Unable to select the \(option.dataSourceName) data source.")
    }

    // Call the completion handler with the updated stereo layout.
    completion(
      StereoLayout(
        orientation: newDataSource.orientation!,
        stereoOrientation: session.inputOrientation))
  }
}
