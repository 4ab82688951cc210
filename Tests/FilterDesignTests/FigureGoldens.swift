import Acoustics
import Foundation
import TestSupport

/// Results of `Tests/Golden/figures.py` with the numpy oracle; the command is in that file.
struct FigureGoldens: Decodable {
  struct Stereo: Decodable {
    /// Shape `[output][microphone][tap]`, in units of 2⁻²⁰.
    let taps: [[[Float]]]
    let separation: Double
    let frontBack: Double
    let levelDifferenceErrorHigh: Double
    let levelDifferenceErrorLow: Double
    let timeDifferenceError: Double
    let octaveErrors: [Double]
    let noiseGain: Double
    /// In degrees to the left, by azimuth from 0°, 5° apart.
    let heard: [Double]
    let targetHeard: [Double]
    let timeDifferenceJump: Double
    /// By third octave, relative to their mean.
    let frontErrors: [Double]
  }
  struct Mono: Decodable, CustomStringConvertible, Sendable {
    let device: String
    /// Shape `[microphone][tap]`, in units of 2⁻²⁰.
    let taps: [[Float]]
    let directivityIndex: [Double]
    let frontBack: [Double]
    let patternError: [Double]
    let onAxis: [Double]
    let whiteNoiseGain: [Double]
    var description: String { device }
  }
  struct Ceiling: Decodable, CustomStringConvertible, Sendable {
    let device: String
    let inputOrientation: String
    let separation: [Double]
    var description: String { "\(device) \(inputOrientation)" }
  }

  static let unit: Float = 1 / 1_048_576

  let stereo: Stereo
  let mono: [Mono]
  let ceilings: [Ceiling]

  static let all: FigureGoldens = {
    let data = try! Data(contentsOf: URL(filePath: repositoryFolder + "/Tests/Golden/figures.json"))
    return try! JSONDecoder().decode(FigureGoldens.self, from: data)
  }()
}
