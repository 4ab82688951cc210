// Seed 002: "Configuring Device Hardware", listing 5-1, "Putting It All Together" and listing 5-2, with lost
// braces restored.

import PinnaSession

func settingAndVerifyingHardwareValues() {
  let session = AudioSession.sharedInstance()
  // Configure category and mode
  do {
    try session.setCategory(AudioSession.Category.record, mode: AudioSession.Mode.default)
  } catch let error {
    print("Unable to set category:  \(error.localizedDescription)")
  }
  // Set preferred sample rate
  do {
    try session.setPreferredSampleRate(44_100)
  } catch let error {
    print("Unable to set preferred sample rate:  \(error.localizedDescription)")
  }
  // Set preferred I/O buffer duration
  do {
    try session.setPreferredIOBufferDuration(0.005)
  } catch let error {
    print("Unable to set preferred I/O buffer duration:  \(error.localizedDescription)")
  }
  // Activate the audio session
  do {
    try session.setActive(true)
  } catch let error {
    print("Unable to activate session. \(error.localizedDescription)")
  }
  // Query the audio session's ioBufferDuration and sampleRate properties
  // to determine if the preferred values were set
  print(
    "Audio Session ioBufferDuration: \(session.ioBufferDuration), sampleRate: \(session.sampleRate)")
}

func puttingItAllTogether() {
  // Preferred Mic = Front, Preferred Polar Pattern = Cardioid
  let preferredMicOrientation = PinnaSession.Orientation.front
  let preferredPolarPattern = PolarPattern.cardioid
  // Retrieve your configured and activated audio session
  let session = AudioSession.sharedInstance()
  // Get available inputs
  guard let inputs = session.availableInputs else { return }
  // Find built-in mic
  guard
    let builtInMic = inputs.first(where: {
      $0.portType == PortType.builtInMic
    })
  else { return }
  // Find the data source at the specified orientation
  guard
    let dataSource = builtInMic.dataSources?.first(where: {
      $0.orientation == preferredMicOrientation
    })
  else { return }
  // Set data source's polar pattern
  do {
    try dataSource.setPreferredPolarPattern(preferredPolarPattern)
  } catch let error {
    print("Unable to preferred polar pattern: \(error.localizedDescription)")
  }
  // Set the data source as the input's preferred data source
  do {
    try builtInMic.setPreferredDataSource(dataSource)
  } catch let error {
    print("Unable to preferred dataSource: \(error.localizedDescription)")
  }
  // Set the built-in mic as the preferred input
  // This call will be a no-op if already selected
  do {
    try session.setPreferredInput(builtInMic)
  } catch let error {
    print("Unable to preferred input: \(error.localizedDescription)")
  }
  // Print Active Configuration
  // swift-format-ignore: ReplaceForEachWithForLoop
  session.currentRoute.inputs.forEach { portDesc in
    print("Port: \(portDesc.portType)")
    if let ds = portDesc.selectedDataSource {
      print("Name: \(ds.dataSourceName)")
      print("Polar Pattern: \(ds.selectedPolarPattern ?? "[none]")")
    }
  }
}

func conditionalCompilationBlock() {
  #if arch(i386) || arch(x86_64)
    // Execute subset of code that works in the Simulator
    print("simulator")
  #else
    // Execute device-only code as well as the other code
    print("device")
  #endif
}
