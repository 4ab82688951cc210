// Each program uses the running Pinna that XDG_RUNTIME_DIR names and prints what it finds; the guided check needs none.

let programs: [String: () throws -> Void] = [
  "front-microphone": selectFrontMicrophone, "hardware": { _ = try requestHardware() },
  "cardioid": aimCardioid, "stereo": tryEveryCase, "recorder": followWhileIdle, "guided-check": guidedCheck,
]

if let program = CommandLine.arguments.dropFirst().first.flatMap({ programs[$0] }) {
  try program()
} else {
  print("usage: session-programs " + programs.keys.sorted().joined(separator: "|"))
}
