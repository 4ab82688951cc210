import Acoustics
import AudioFiles
import FilterBanks
import FoundationEssentials
import Glibc
import GuidedCheck
import Messages
import Presets
import Processor
import Rendering
import Settings
import Threads

/// What a demo shows, with and without a server: the scene, where its recordings go, and the results.
struct DemoStage {
  let preset: Preset
  let device: Device
  let scene: CheckScene
  /// Of the recordings.
  let folder: String
  static let sampleRate = 48000
  /// Of the files that are kept.
  private static let names = ["outputs.wav", "microphones.wav", "demo.png"]
  private let sets: FilterSets
  private let keeps: Bool
  private let isQuiet: Bool

  /// - Parameters:
  ///   - keep: the folder for the recordings; nil if they are not kept.
  ///   - replaces: whether recordings in it are replaced.
  init(preset: Preset, device: Device, keep: String?, replaces: Bool, isQuiet: Bool) throws {
    self.preset = preset
    self.device = device
    self.isQuiet = isQuiet
    keeps = keep != nil
    var requested = try OutputPath.absolute(
      keep ?? FileManager.default.temporaryDirectory.appending(path: "pinna-demo-XXXXXX").path)
    do {
      if keeps {
        try FileManager.default.createDirectory(atPath: requested, withIntermediateDirectories: true)
      } else {
        // This folder is removed at the end, so it must be new.
        var template = Array(requested.utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        requested = String(cString: template)
      }
    } catch {
      throw Failure(
        .failed, "cannot create the folder \(requested) for the recordings; give another with --keep")
    }
    folder = try OutputPath.withoutLinks(requested)
    for name in Self.names { _ = try OutputFile("\(folder)/\(name)", replacing: replaces || !keeps) }
    // Designing here shows the progress. The processor then finds the filters in the cache.
    sets = try FilterSets(
      device: device, sampleRate: Self.sampleRate, progress: WorkProgress.designing(device.name))
    // Every second one: those between hold the device the other way round. `pinna check` plays all.
    let stereo = CheckCase.all(of: sets.bank.offered(of: device)).filter(\.isStereo)
    let cases = stride(from: 0, to: stereo.count, by: 2).map { stereo[$0] }
    guard !cases.isEmpty else {
      throw Failure(
        .unsupported, "\(device.name) offers no stereo, which the demo needs; give another preset")
    }
    scene = try CheckScene(
      array: device, calibration: device.calibration, cases: cases, sampleRate: Self.sampleRate,
      bodyCache: CacheFolder.bodies,
      progress: WorkProgress.soundField(device.name), mixing: WorkProgress.step("adding voices"))
  }

  /// Plays the scene through the engine alone.
  /// - Returns: whether every voice came out as expected.
  func performOffline() throws -> Bool {
    defer { clear() }
    say("jackd is not installed: the demo runs offline, without a take; for all of it, install jackd2.")
    announce()
    for (n, one) in scene.cases.enumerated() {
      var setting = Setting(preset: preset, device: device)
      setting.main.selection = one.selection
      say("  \(n + 1). \(ChangeReport(setting).text)")
    }
    return try show(CheckOutput(scene, inOneRunThrough: sets, of: device), take: nil)
  }

  func announce() {
    say("Four voices speak in each of \(scene.cases.count) cases; the case changes while sound flows.")
    if let calibration = device.calibration { say("The array was \(calibration.remarkOnModel).") }
  }

  /// Keeps the recordings if that was asked for, and shows the results.
  /// - Parameter take: of the take, and of the refusal during it; nil if there was none.
  /// - Returns: whether every voice came out as expected.
  func show(_ output: CheckOutput, take: (text: String, refusal: String)?) throws -> Bool {
    if keeps {
      try AudioClip(sampleRate: Self.sampleRate, channels: [output.left, output.right]).write(
        wav: folder + "/outputs.wav")
      try scene.microphones.write(
        wav: folder + "/microphones.wav", areMicrophones: true, broadcast: .simulated("demo"))
    }
    WorkProgress.begin("finding where each voice came out")
    let results = CheckResults(scene, output)
    let picture = try draw(results)
    if isQuiet {
      Tool.say(
        json: (results.json + [
          "offline": take == nil, "take": take?.text, "refused": take?.refusal, "picture": picture,
        ]).text)
    } else {
      say("\n" + results.table)
      if let take { say("Take: \(take.text). Refused during it: \(take.refusal)") }
      say("A picture of where each voice came out is \(picture).")
      say(soundSentence)
    }
    return results.isRight
  }

  /// Draws the results in the folder of the recordings, or in the cache folder if those are not kept.
  /// - Returns: the path of the picture.
  private func draw(_ results: CheckResults) throws -> String {
    let pictureFolder = keeps ? folder : CacheFolder.path
    try FileManager.default.createDirectory(atPath: pictureFolder, withIntermediateDirectories: true)
    let path = pictureFolder + "/demo.png"
    try CheckPicture(results, device: device, name: preset.name).write(OutputFile(path, replacing: true))
    return path
  }

  /// Where the sound is and how to play it, or the command that keeps and plays it.
  private var soundSentence: String {
    let player = Self.soundPlayer.map { "\($0) " }
    guard keeps else {
      let other = preset.name == "phone5" ? "" : " --preset \(preset.name)"
      let keep = "pinna demo\(other) --keep pinna-demo"
      return "To hear it: " + (player.map { "\(keep) && \($0)pinna-demo/outputs.wav" } ?? keep)
    }
    let sound = "The sound is in \(folder): outputs.wav is what came out, microphones.wav what went in."
    return player.map { "\(sound) To hear it: \($0)\(Shell.word(folder + "/outputs.wav"))" } ?? sound
  }

  /// The first program in PATH that plays a sound file: of ALSA, PipeWire, SoX.
  private static var soundPlayer: String? {
    ["aplay", "pw-play", "play"].first { ChildProcess.path(ofProgram: $0) != nil }
  }

  /// Removes the recordings unless they are kept.
  func clear() {
    if !keeps { try? FileManager.default.removeItem(atPath: folder) }
  }

  func say(_ line: String) {
    if !isQuiet { Tool.say(line) }
  }
}
