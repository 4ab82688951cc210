import PinnaSession

extension AudioSession {
  /// Ready to record and to play.
  static func started(options: CategoryOptions = []) throws -> AudioSession {
    let session = sharedInstance()
    try session.setCategory(.playAndRecord, options: options)
    try session.setActive(true)
    return session
  }

  /// The input that is part of the device.
  func ownInput() throws -> PortDescription {
    for input in availableInputs ?? [] where input.portType == .builtInMic { return input }
    throw SessionError.failed("every input is outside the device")
  }
}

extension PortDescription {
  /// The data source that looks at whoever holds the device.
  func towardsUser() throws -> DataSourceDescription {
    for source in dataSources ?? [] where source.orientation == .front { return source }
    throw SessionError.failed("\(portName) has no data source in front")
  }
}

func selectFrontMicrophone() throws {
  let session = try AudioSession.started()
  let input = try session.ownInput()
  let choices = input.dataSources ?? []
  print("choices: \(choices.count)")
  print("input: \(input)")
  for choice in choices { print("choice: \(choice)") }
  let source = try input.towardsUser()
  print("before: \(input.selectedDataSource?.dataSourceName ?? "nothing") of \(input.portName)")
  print("wanted: \(source) of \(input.portName)")
  try input.setPreferredDataSource(source)
  try session.setPreferredInput(input)
}
