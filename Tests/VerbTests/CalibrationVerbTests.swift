import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("A calibration and what is judged by it") struct CalibrationVerbTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  /// Gains of a real array, and a capsule that is wired the wrong way round.
  private func calibrate(_ device: String, _ names: [String], delay: Bool = false) throws {
    let gains = [2.6, -1.9, 3.1, -2.8, 1.4, -3.2, 2.2]
    let lines = zip(names, gains).enumerated().map { n, one in
      "  \(one.0): {gain: \(one.1)\(n == 1 ? ", polarity: inverted" : "")\(n == 0 && delay ? ", delay: 30" : "")}"
    }
    let text = """
      format: 1
      device: \(device)
      date: "2026-11-23"
      method: "20 s of diffuse sound"
      source: file
      microphones:
      \(lines.joined(separator: "\n"))

      """
    try home.home.folder.write(text, to: "config/pinna/calibration/\(device).yaml")
  }

  /// Level differences and levels of all voices.
  private func levels(_ outcome: Program.Outcome) throws -> [Double] {
    let cases = try #require(try outcome.json()["cases"] as? [[String: Any]], "\(outcome)")
    return cases.flatMap { $0["voices"] as? [[String: Any]] ?? [] }.flatMap { voice in
      ["levelDifferenceDB", "overFrontDB"].compactMap { voice[$0] as? Double }
    }
  }

  @Test(
    "a calibrated array is checked with its own deviations: as well as before, and the check says so",
    .nightly,
    arguments: [
      ("uma8", ["centre", "rim-1", "rim-2", "rim-3", "rim-4", "rim-5", "rim-6"]),
      ("macbook", ["left", "right", "vertex"]), ("linear8", (1...7).map { "line-\($0)" }),
    ])
  func check(device: String, names: [String]) throws {
    let before = try home.pinna("check", "--preset", device, "--json")
    #expect(before.status == 0, "\(before)")
    #expect((try before.json()["remarks"] as? [String])?.contains { $0.contains("measured on") } == false)
    try calibrate(device, names)
    let after = try home.pinna("check", "--preset", device, "--json")
    #expect(after.status == 0, "\(after)")
    let levels = (try levels(before), try levels(after))
    #expect(levels.0.count == levels.1.count && !levels.0.isEmpty)
    // Voices are the same words, or noise that differs from run to run.
    for (a, b) in zip(levels.0, levels.1) { #expect(abs(a - b) < 1.5, "\(device): \(a), \(b)") }
    let remark =
      "simulated with the deviations that were measured on 2026-11-23 in a recording, which its filters undo"
    #expect((try after.json()["remarks"] as? [String])?.contains(remark) == true)
  }

  @Test("a delay and an array that is checked under another name deviate as measured, too", .long)
  func delay() throws {
    let before = try levels(home.pinna("check", "--preset", "pair", "--json"))
    try calibrate("pair", ["left-end", "right-end"], delay: true)
    let after = try home.pinna("check", "--preset", "pair", "--json")
    #expect(after.status == 0, "\(after)")
    for (a, b) in zip(before, try levels(after)) { #expect(abs(a - b) < 1.5, "\(a), \(b)") }
    try home.home.folder.write(PinnaHome.pair, to: "config/pinna/devices/truth.yaml")
    let truth = try home.pinna("check", "--preset", "pair", "--array", "truth")
    #expect(truth.status == 0, "\(truth)")
    #expect(truth.output.contains("The array was simulated with the deviations that were measured on"))
    let report = try home.pinna("report", "--preset", "pair")
    #expect(
      report.output.contains("The array was simulated with the deviations that were measured on 2026-11-23"))
  }

  @Test(
    "what was measured of the real array is left out, in words, where a simulated one is checked or rendered")
  func simulatedArray() throws {
    let (mics, out) = (home.path + "/mics.wav", home.path + "/out.wav")
    #expect(
      try home.pinna("simulate", repositoryFolder + "/Presets/scenes/uma8-meeting.yaml", mics).status == 0)
    let names = ["centre", "rim-1", "rim-2", "rim-3", "rim-4", "rim-5", "rim-6"]
    func results() throws -> (check: Program.Outcome, render: Program.Outcome, sound: Data) {
      let check = try home.pinna("array", "check", "--device", "uma8", mics)
      let render = try home.pinna("render", "--force", "--preset", "uma8", mics, out)
      return (check, render, try Data(contentsOf: URL(filePath: out)))
    }
    let before = try results()
    try calibrate("uma8", names)
    let after = try results()
    #expect(
      after.check.output == before.check.output && after.check.status == before.check.status, "\(after.check)"
    )
    #expect(after.sound == before.sound && after.render.status == 0, "\(after.render)")
    for outcome in [after.check, after.render] {
      #expect(
        outcome.error.contains("measured of uma8 on 2026-11-23 in a recording is left out"), "\(outcome)")
    }
    #expect(!before.check.error.contains("left out") && !before.render.error.contains("left out"))
    // A recording of the real array is undone.
    try AudioClip(path: mics).write(wav: mics)
    #expect(try results().sound != before.sound)
  }

  @Test(
    "what pinna simulate wrote calibrates no array unless it is told to, and the file says what it was",
    .nightly)
  func simulated() throws {
    let (rain, path) = (home.path + "/rain.wav", home.path + "/config/pinna/calibration/uma8.yaml")
    #expect(
      try home.pinna("simulate", repositoryFolder + "/Presets/scenes/uma8-rain.yaml", rain).status == 0)
    let refused = try home.pinna("array", "calibrate", "--device", "uma8", "--yes", rain)
    #expect(
      refused.status == 1 && refused.isOneSentence && refused.error.contains("--yes-simulated"), "\(refused)")
    #expect(!FileManager.default.fileExists(atPath: path))
    let told = try home.pinna("array", "calibrate", "--device", "uma8", "--yes-simulated", rain)
    #expect(told.status == 0 && told.output.contains("Written to \(path)"), "\(told)")
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("\nsource: simulated\n"))
    let check = try home.pinna("check", "--preset", "uma8")
    #expect(
      check.status == 0 && check.output.contains("in a simulated scene, which its filters undo"), "\(check)")
    // The same sound without its mark is a recording.
    try AudioClip(path: rain).write(wav: home.path + "/street.wav")
    let recorded = try home.pinna(
      "array", "calibrate", "--device", "uma8", "--yes", home.path + "/street.wav", "--json")
    #expect(recorded.status == 0, "\(recorded)")
    #expect(try recorded.json()["source"] as? String == "file")
    // Checking a simulated array is what simulations are for.
    let healthy = try home.pinna("array", "check", "--device", "uma8", rain)
    #expect(healthy.status == 0 && healthy.error.contains("is left out"), "\(healthy)")
  }

  @Test("columns of a check keep a space between them, whatever a data source is called")
  func columns() throws {
    let name = "Everything-before-loudspeakers"
    try home.home.folder.write(
      PinnaHome.pair.replacing("Front:", with: "\(name):"), to: "config/pinna/devices/pair.yaml")
    try home.home.folder.write(
      "title: p\ndevice: pair\ndataSource: \(name)\npolarPattern: stereo\ninputOrientation: portrait\n",
      to: "config/pinna/pair.yaml")
    let outcome = try home.pinna("check", "--preset", "pair")
    #expect(outcome.output.contains(/speakers, portrait +[+-]/), "\(outcome)")
  }
}
