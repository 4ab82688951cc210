import PinnaSession

extension AudioSession {
  /// Points the preferred input where a data source looks, in stereo where that is offered, and says what came of it.
  func point(to name: String, held orientation: InputOrientation) throws -> String {
    guard let input = preferredInput,
      let source = input.dataSources?.filter({ $0.dataSourceName == name }).first,
      let offered = source.supportedPolarPatterns
    else { return "no edges, stereo: false" }
    let isStereo = offered.contains(.stereo)
    if isStereo { try source.setPreferredPolarPattern(.stereo) }
    try input.setPreferredDataSource(source)
    let edges = try setPreferredInputOrientation(orientation).layout
    let text = edges.map { "left \($0.left.rawValue), right \($0.right.rawValue)" } ?? "no edges"
    return "\(text), stereo: \(isStereo)"
  }
}

func tryEveryCase() throws {
  let session = try AudioSession.started(options: [.allowBluetooth, .defaultToSpeaker])
  try session.setPreferredInput(session.ownInput())
  for name in ["Front", "Back", "Bottom", "Elsewhere"] {
    for orientation in InputOrientation.allCases {
      print("\(name), \(orientation.rawValue): \(try session.point(to: name, held: orientation))")
    }
  }
}

/// A screen that shows left and right as the device is held. They stay where they are during a recording.
final class RecorderScreen {
  let session: AudioSession
  let recorder: AudioRecorder
  private(set) var shown = ""

  init() throws {
    session = try AudioSession.started()
    try session.setPreferredInput(session.ownInput())
    recorder = AudioRecorder(session)
  }

  func turn(_ orientation: InputOrientation, looking name: String) throws {
    if recorder.state == .recording { return }
    shown = try session.point(to: name, held: orientation)
  }
}

func followWhileIdle() throws {
  let screen = try RecorderScreen()
  print("channels: \(screen.session.inputNumberOfChannels)")
  for name in ["Front", "Back"] {
    for orientation in InputOrientation.allCases {
      try screen.turn(orientation, looking: name)
      print("\(name), \(orientation.rawValue): \(screen.shown)")
    }
  }
  try screen.recorder.record()
  try screen.turn(.portrait, looking: "Front")
  print("recording: \(screen.shown)")
  try screen.recorder.stop()
}
