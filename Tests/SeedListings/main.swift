// Runs a listing of the seeds, or the library page's guided check, with the running Pinna that
// XDG_RUNTIME_DIR names.

switch CommandLine.arguments.dropFirst().first {
case "capturing-stereo":
  let controller = AudioController()
  controller.prepare()
  for name in ["Front", "Back", "Bottom", "Nosuch"] {
    for orientation in Orientation.allCases {
      controller.selectRecordingOption(
        RecordingOption(name: name, dataSourceName: name), orientation: orientation
      ) { print("\(name), \(orientation): \($0); stereo: \(controller.isStereoSupported)") }
    }
  }
case "record-stereo":
  let view = RecordViewController()
  view.controller.enableBuiltInMic()
  for (index, name) in view.dataSources.enumerated() {
    view.dataSourceChooser.selectedSegmentIndex = index
    for orientation in Orientation.allCases {
      view.windowOrientation = orientation
      view.traitCollectionDidChange(nil)
      print("\(name), \(orientation): \(view.layoutView.layout)")
    }
  }
  do {
    try view.controller.recorder.record()
    view.windowOrientation = .portrait
    view.updateDataSourceSelection(view)
    print("recording: \(view.layoutView.layout)")
    try view.controller.recorder.stop()
  } catch {
    print("recorder: \(error)")
  }
case "hardware-values": settingAndVerifyingHardwareValues()
case "front-cardioid":
  // "Your configured and activated audio session"
  settingAndVerifyingHardwareValues()
  puttingItAllTogether()
case "conditional": conditionalCompilationBlock()
case "input-selection": demonstrateInputSelection()
case "guided-check": try guidedCheck()
default: print("usage: SeedListings LISTING")
}
