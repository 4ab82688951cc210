import Acoustics
import FilterBanks
import FilterDesign
import Foundation
import HeadResponses
import Manifolds
import Numerics
import Presets
import Rendering
import TestSupport
import Testing

/// Stereo with a pose: filters mixed from those of the poses around it.
@Suite("Poses") struct PoseTests {
  /// What both ears of a listener hear from one direction: level differences in octaves from 500 Hz to 8 kHz, in decibels,
  /// and the time difference below 1.5 kHz, in microseconds.
  struct Cues {
    let levels: [Double]
    let time: Double

    /// - Parameter ears: responses `[frequency](left, right)`.
    init(_ ears: [(left: Complex, right: Complex)], frequencies: [Double]) {
      levels = [500.0, 1000, 2000, 4000, 8000].map { centre in
        let bins = frequencies.indices.filter {
          frequencies[$0] > centre / 2.0.squareRoot() && frequencies[$0] < centre * 2.0.squareRoot()
        }
        let sums = bins.reduce((left: 0.0, right: 0.0)) {
          ($0.left + ears[$1].left.squaredMagnitude, $0.right + ears[$1].right.squaredMagnitude)
        }
        return 10 * log10(sums.left / sums.right)
      }
      let low = frequencies.indices.filter { frequencies[$0] > 150 && frequencies[$0] < 1500 }
      let delays = (-1000...1000).map { Double($0) }
      time = delays.max { a, b in
        func correlation(_ microseconds: Double) -> Double {
          low.reduce(0) { sum, f in
            let cross = ears[f].left * ears[f].right.conjugate
            return sum + (cross * Complex(phase: -2 * .pi * frequencies[f] * microseconds * 1e-6)).real
          }
        }
        return correlation(a) < correlation(b)
      }!
    }
  }

  static func cues(
    _ taps: Taps<Float>, _ bank: FilterBank, _ manifold: any ArrayManifold, _ frame: HeadFrame,
    azimuths: [Double]
  ) -> [Cues] {
    let frequencies = (3...180).map { Double($0) * 62.5 }
    let response = FilterResponse(
      taps: taps, sampleRate: bank.sampleRate, delayFrames: bank.delayFrames, frequencies: frequencies)
    let ears = response.outputs(
      manifold, from: azimuths.map { frame.direction(azimuth: .degrees($0)).vector })
    return azimuths.indices.map { d in
      Cues(
        frequencies.indices.map { (left: ears[$0, 0, d], right: ears[$0, 1, d]) }, frequencies: frequencies)
    }
  }

  @Test("experiment", arguments: ["phone5", "glasses8", "ring7"])
  func experiment(name: String) throws {
    let device = try PresetLibrary.standard.device(named: name)
    let manifold = try manifold(for: device, step: .unobserved)
    let folder = "/tmp/pose/cache" + (ProcessInfo.processInfo.environment["XN"] ?? "")
    let source = device.dataSources.first { !$0.stereoOrientations.isEmpty }!
    var selection = Selection(
      dataSource: source.name, polarPattern: .stereo, inputOrientation: source.stereoOrientations[0])
    func bank(_ pose: Pose) throws -> FilterBank {
      selection.pose = pose
      var own = try device.ownDevice(of: selection)
      if own == nil {
        selection.pose = Pose(roll: 5)
        own = try device.ownDevice(of: selection)!.inward
      }
      return try FilterBank.cached(device: own!, sampleRate: 48000, cache: folder)
    }
    let frame = HeadFrame(forward: source.forward, orientation: source.stereoOrientations[0])!
    let azimuths = (0..<24).map { Double($0) * 15 + 2 }
    for pose in [2.5, 7.5, 12.5, 22.5, 42.5].flatMap({ [Pose(roll: $0), Pose(yaw: -$0)] }) + [Pose(roll: 90), Pose(yaw: -90)] {
      let start = ContinuousClock.now
      let parts = try pose.neighbours.map { (try bank($0.pose).cases[0].taps, $0.gain) }
      let time = ContinuousClock.now - start
      var mixed = Taps<Float>(outputs: 2, microphones: device.microphones.count, length: parts[0].0.length)
      for output in 0..<2 {
        for microphone in 0..<mixed.microphones {
          mixed[output, microphone] = ArraySlice(
            (0..<mixed.length).map { tap in
              parts.reduce(0) { $0 + Float($1.1) * $1.0[output, microphone][$1.0[output, microphone].startIndex + tap] }
            })
        }
      }
      let exact = try bank(pose)
      let a = Self.cues(mixed, exact, manifold, frame.turned(by: pose), azimuths: azimuths)
      let b = Self.cues(exact.cases[0].taps, exact, manifold, frame.turned(by: pose), azimuths: azimuths)
      let levels = zip(a, b).map { zip($0.levels, $1.levels).map { abs($0 - $1) } }
      let mean = (0..<5).map { band in levels.reduce(0) { $0 + $1[band] } / 24 }
      let all = levels.flatMap(\.self).sorted()
      let hrtf = try HRTF(path: HRTF.defaultPath, parameters: device.design.head)
      let fs = (3...180).map { Double($0) * 62.5 }
      let wanted = StereoDesign.target(hrtf, from: azimuths.map { sphericalUnit(azimuth: .degrees($0), elevation: .degrees(0)) }, frequencies: fs)
      let t = azimuths.indices.map { d in Cues(fs.indices.map { (left: wanted[$0, 0, d], right: wanted[$0, 1, d]) }, frequencies: fs) }
      let cold = try FilterBank.design(device: try device.ownDevice(of: { selection.pose = pose; return selection }()) ?? device, sampleRate: 48000)
      let c = Self.cues(cold.coefficients(for: selection.filterCase)!.taps, exact, manifold, frame.turned(by: pose), azimuths: azimuths)
      func errors(_ x: [Cues]) -> String {
        var text = ""
        for band in 0..<5 {
          var sum = 0.0
          for d in t.indices { sum += abs(x[d].levels[band] - t[d].levels[band]) }
          text += String(format: "%.2f ", sum / 24)
        }
        var sum = 0.0
        for d in t.indices { sum += abs(x[d].time - t[d].time) }
        return text + String(format: "ITD %.1f", sum / 24)
      }
      print(name, "roll", pose.roll, "yaw", pose.yaw, "errors ILD: mixed", errors(a), "exact", errors(b), "cold", errors(c))
      let times = zip(a, b).map { abs($0.time - $1.time) }.sorted()
      print(
        name, "roll", pose.roll, "yaw", pose.yaw, "s", time, "ILD mean", mean.map { String(format: "%.2f", $0) }.joined(separator: " "), String(format: "95%% %.2f max %.2f", all[all.count * 95 / 100], all.last!),
        "ITD mean", String(format: "%.1f", times.reduce(0, +) / 24), "max", times.last!)
    }
  }
}
