import PinnaSession

/// Wants a compact disc's rate and a short delay, and prints what the server has instead.
func requestHardware() throws -> AudioSession {
  let session = AudioSession.sharedInstance()
  try session.setCategory(.record, mode: .default)
  try session.setPreferredSampleRate(44_100)
  try session.setPreferredIOBufferDuration(0.005)
  try session.setActive(true)
  print("period: \(session.ioBufferDuration), rate: \(session.sampleRate)")
  return session
}

func aimCardioid() throws {
  let session = try requestHardware()
  let input = try session.ownInput()
  let source = try input.towardsUser()
  try source.setPreferredPolarPattern(.cardioid)
  try input.setPreferredDataSource(source)
  try session.setPreferredInput(input)
  for active in session.currentRoute.inputs {
    print("input: \(active.portType)")
    guard let selected = active.selectedDataSource else { continue }
    print("source: \(selected.dataSourceName)")
    print("pattern: \(selected.selectedPolarPattern?.title ?? "the only one")")
  }
}
