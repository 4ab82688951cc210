import Control
import Foundation
import Session
import Simulation

extension Verb {
  static let simulate = Verb(
    name: "simulate", operands: ["SCENE.yaml", "OUT.wav"],
    summary: "a scene file becomes the microphone signals of its device",
    options: [Option("--rate", "HZ", "sample rate (default: 48000)"), jsonOption]
  ) { arguments in
    try OutputPath.check(arguments.operands[1], against: arguments.operands[0])
    let rate = try arguments.integer("--rate", in: Scene.sampleRates) ?? 48000
    try InputPath.check(
      arguments.operands[0], "give a scene file; one that ships is scenes/phone5-voices.yaml in Presets")
    let scene = try Scene(file: arguments.operands[0], library: .standard)
    let clip = try scene.microphones(
      sampleRate: rate, progress: WorkProgress.soundAround(scene.device.name))
    try clip.write(wav: arguments.operands[1])
    let names = scene.device.microphones.map(\.name)
    if let overload = clip.overload(names: names) { Tool.complain(overload) }
    if arguments.isJSON {
      print(
        try document([
          "output": arguments.operands[1], "device": scene.device.name, "frames": clip.frames,
          "sampleRate": rate, "microphones": names,
        ]))
    }
    return .done
  }
}
