import Acoustics
import ArrayCheck
import AudioFiles
import Foundation
import Presets
import Simulation
import TestSupport
import Testing

@Suite("The calibration of an array")
struct CalibrationTests {
  static let rate = ArrayScenes.rate
  private static let gains = [2.7, -1.9, 0.4, -3, 1.2, 3, -0.8, -1.6]

  private static let names = ["linear8", "uma8", "glasses8", "tetramic"]

  /// Six seconds of diffuse sound per device, simulated once for all tests.
  private static let diffuse: [String: [[Float]]] = Dictionary(
    uniqueKeysWithValues: names.map { name in
      let signals = try! ArrayScenes.recording(
        of: ArrayScenes.device(name), kind: .diffuse, room: false, snr: 40, seed: 3, seconds: 6)
      return (name, signals)
    })

  private func deviating(_ name: String) throws -> (
    device: Device, gains: [Double], signals: [[Float]]
  ) {
    let device = try ArrayScenes.device(name)
    let gains = Array(Self.gains.prefix(device.microphones.count))
    return (device, gains, ArrayScenes.scaled(try #require(Self.diffuse[name]), by: gains))
  }

  private func calibration(of device: Device, _ signals: [[Float]]) throws(ArrayCheckError)
    -> ArrayCalibration
  {
    try ArrayCalibration(of: device, signals: signals, sampleRate: Self.rate, date: "2026-11-23")
  }

  @Test("of gains of ±3 dB at least 90 % are found", .long, arguments: names)
  func gains(name: String) throws {
    let (device, gains, signals) = try deviating(name)
    let measured = try calibration(of: device, signals)
    func rms(_ values: [Double]) -> Double {
      let mean = values.reduce(0, +) / Double(values.count)
      return (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count)).squareRoot()
    }
    let rest = rms(zip(gains, measured.microphones).map { $0 - $1.deviation.gain.value })
    #expect(rest <= 0.1 * rms(gains), "\(measured.microphones.map(\.deviation.gain.value))")
    #expect(measured.spread.after < 0.1 * measured.spread.before)
    #expect(measured.microphones.allSatisfy { $0.deviation.delay == 0 && !$0.deviation.isInverted })
  }

  @Test("a delay of 20 µs and an inverted microphone are measured", arguments: ["uma8", "glasses8"])
  func delay(name: String) throws {
    var (device, _, signals) = try deviating(name)
    // One frame at 48 kHz.
    signals[1] = ArrayScenes.late(signals[1], frames: 1)
    signals[3] = signals[3].map { -$0 }
    let measured = try calibration(of: device, signals)
    for (m, microphone) in measured.microphones.enumerated() {
      #expect(abs(microphone.deviation.delay * 1e6 - (m == 1 ? 20.8 : 0)) < 4, "\(m): \(microphone.delay)")
      #expect(microphone.deviation.isInverted == (m == 3))
    }
  }

  @Test("one talker is not enough, and neither is an array with swapped or dead microphones")
  func refusals() throws {
    let device = try ArrayScenes.device("uma8")
    let talker = try ArrayScenes.recording(
      of: device, kind: .oneTalker, room: false, snr: 30, seed: 5, seconds: 6)
    #expect(throws: ArrayCheckError.self) {
      try calibration(of: device, talker)
    }
    var (_, _, signals) = try deviating("uma8")
    signals[2] = [Float](repeating: 0, count: signals[2].count)
    let error = #expect(throws: ArrayCheckError.self) {
      try calibration(of: device, signals)
    }
    #expect(error?.description.contains("rim-2 is silent") == true)
  }

  @Test("too little sound is no proof that an array is well")
  func tooQuiet() throws {
    let device = try ArrayScenes.device("uma8")
    var noise = SeededNoise(seed: 3)
    let quiet = device.microphones.map { _ in noise.samples(6 * Self.rate, amplitude: 2e-5) }
    let verdict = try ArrayCheck.verdict(on: quiet, of: device, sampleRate: Self.rate)
    #expect(
      verdict.findings.isEmpty && !verdict.isJudged && !verdict.isWell, "\(verdict.findings.map(\.sentence))")
  }

  @Test("one microphone has nothing to be calibrated against")
  func single() throws {
    let device = try ArrayScenes.device("uma8").without(
      microphones: ["rim-1", "rim-2", "rim-3", "rim-4", "rim-5", "rim-6"])
    var noise = SeededNoise(seed: 3)
    let error = #expect(throws: ArrayCheckError.self) {
      try calibration(of: device, [noise.samples(6 * Self.rate)])
    }
    #expect(error?.description.contains("one microphone") == true)
  }

  @Test("a microphone that is later than phases can tell is refused, not clamped")
  func muchTooLate() throws {
    // 146 µs: phases up to 3 kHz are ambiguous from 167 µs on.
    var (device, _, signals) = try deviating("uma8")
    let frames = 7
    signals[3] = [Float](repeating: 0, count: frames) + signals[3].dropLast(frames)
    device = device.with(calibration: nil)
    let error = #expect(throws: ArrayCheckError.self) {
      try calibration(of: device, signals)
    }
    #expect(error?.description.contains("is 146 µs late") == true, "\(error?.description ?? "none")")
  }

  @Test("a gain that no calibration file may have is refused, with the microphone and what to do")
  func tooUnequal() throws {
    let (device, _, signals) = try deviating("uma8")
    let loud = signals.enumerated().map { m, signal in m == 3 ? signal.map { 30 * $0 } : signal }
    let error = #expect(throws: ArrayCheckError.self) { try calibration(of: device, loud) }
    let words = error?.description ?? "none"
    #expect(words.hasPrefix("rim-3 is +2") && words.contains("(24 dB): set the gains"), "\(words)")
  }

  @Test("a calibrated array is well where the bare one is not")
  func calibrated() throws {
    let device = try ArrayScenes.device("uma8")
    let clean = try ArrayScenes.recording(
      of: device, kind: .severalTalkers, sides: 6, room: false, snr: 30, seed: 8, seconds: 6)
    var signals = clean
    signals[2] = clean[2].map { -2.2 * $0 }
    #expect(try !ArrayCheck.verdict(on: signals, of: device, sampleRate: Self.rate).isWell)
    let calibration = Calibration(
      deviations: ["rim-2": Deviation(gain: Decibels(6.8), isInverted: true)], date: "2026-11-23",
      method: "test")
    #expect(
      try ArrayCheck.verdict(on: signals, of: device.with(calibration: calibration), sampleRate: Self.rate)
        .isWell)
  }

  @Test("a calibration file is read back as it was written, and merged by the library")
  func file() throws {
    let folder = try TemporaryFolder()
    let device = try ArrayScenes.device("uma8")
    let calibration = Calibration(
      deviations: [
        "rim-1": Deviation(gain: Decibels(1.25), delay: 8e-6), "rim-3": Deviation(isInverted: true),
      ],
      date: "2026-11-23", method: "8 s of diffuse sound")
    let library = PresetLibrary(
      folders: [repositoryFolder + "/Presets"], calibrationFolder: folder.path + "/calibration")
    let path = try #require(library.calibrationPath(of: device))
    try CalibrationFile.write(calibration, of: device, to: path)
    let read = try library.device(named: "uma8")
    #expect(read.calibration == calibration)
    #expect(read.deviations[1].gain.value == 1.25 && read.deviations[3].isInverted)
    let byFile = try library.device(path: repositoryFolder + "/Presets/devices/uma8.yaml")
    #expect(byFile.calibration == calibration)
    #expect(try ArrayScenes.device("uma8").calibration == nil)
    for source in Calibration.Source.allCases {
      let told = Calibration(deviations: [:], date: "2026-11-23", method: "m", source: source)
      try CalibrationFile.write(told, of: device, to: path)
      #expect(try library.device(named: "uma8").calibration?.source == source)
    }
  }

  @Test("a broken calibration file is one error that names file and line")
  func broken() throws {
    let device = try ArrayScenes.device("uma8")
    for (text, words) in [
      ("format: 1\ndevice: uma8\ndate: x\nmethod: y\nmicrophones:\n  rim-9: {gain: 1}\n", "c.yaml:6:"),
      ("format: 1\ndevice: other\ndate: x\nmethod: y\nmicrophones: {}\n", "c.yaml:2:"),
      ("format: 2\ndevice: uma8\n", "c.yaml:1:"),
      ("format: 1\ndevice: uma8\ndate: x\nmethod: y\nmicrophones:\n  rim-1: {gain: 90}\n", "c.yaml:6:"),
    ] {
      let error = #expect(throws: DescriptionError.self) {
        try CalibrationFile.read(YAMLReader(text: text, file: "c.yaml"), for: device)
      }
      #expect(error?.description.contains(words) == true, "\(error?.description ?? "none")")
    }
  }

  @Test("a simulated scene is the array as its file has it, whatever was measured")
  func simulation() throws {
    let device = try ArrayScenes.device("uma8")
    let calibration = Calibration(
      deviations: ["rim-1": Deviation(gain: Decibels(6))], date: "2026-11-23", method: "test")
    func clip(_ device: Device) throws -> AudioClip {
      let voice = BandlimitedSignal(
        samples: (0..<4800).map { Float(sin(Double($0) / 10)) }, sampleRate: 48000)
      return try Scene(title: "test", device: device, talkers: [Talker(voice: voice, direction: .plusX)])
        .microphones(sampleRate: 48000)
    }
    #expect(try clip(device).channels == clip(device.with(calibration: calibration)).channels)
  }
}
