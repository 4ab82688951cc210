import Acoustics
import Adaptation
import AudioFiles
import FasterKernels
import FilterBanks
import FilterDesign
import Foundation
import HeadResponses
import Manifolds
import Presets
import Realtime

// Runs the adaptive analysis over mixtures, and plays each part of a mixture through the filters that the whole one
// leads to (shadow filtering), for a judge that knows the parts.
//
// usage: adaptive-scenes DEVICE DATASOURCE ORIENTATION LIST
// Each line of LIST: MIXTURE.wav PART.wav … Beside each PART.wav it writes PART.linear.wav and PART.adaptive.wav.

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "talkers" {
  try findTalkers(device: arguments[2], list: arguments[3])
  exit(0)
}
guard arguments.count == 5 else {
  print("usage: adaptive-scenes DEVICE DATASOURCE ORIENTATION LIST")
  exit(2)
}
let library = PresetLibrary(folders: ["Presets"])
let device = try library.device(named: arguments[1])
let source = try device.dataSource(named: arguments[2])
let orientation = InputOrientation(rawValue: arguments[3])!
let sampleRate = 48_000
let bank = try FilterBank.ready(device: device, sampleRate: sampleRate)
let filterCase = FilterCase(dataSource: source.name, polarPattern: .stereo, inputOrientation: orientation)
let base = FilterSet(coefficients: bank.coefficients(for: filterCase)!.taps.filters)
let hrtf = try HRTF(path: device.hrtf ?? HRTF.defaultPath, parameters: device.design.head)
let start = ContinuousClock.now
let array = ArrayTable(try manifold(for: device), sampleRate: sampleRate)
let frame = HeadFrame(forward: source.forward, orientation: orientation)!
let ears = EarTable(
  array, base: base, delayFrames: bank.delayFrames,
  frame: frame, hrtf: hrtf)
print("tables in \((ContinuousClock.now - start) / .milliseconds(1)) ms")
let hop = array.grid.hop
let (microphones, length) = (base.microphones, base.taps)
let linear = Array(base.filters.joined().joined())

/// One hop of a part through two sets of filters, faded from the first to the second.
func play(_ part: [[Float]], at frame: Int, from old: [Float], to new: [Float]) -> [[Float]] {
  var output = [[Float]](repeating: [Float](repeating: 0, count: hop), count: 2)
  for ear in 0..<2 {
    for m in 0..<microphones {
      let first = (ear * microphones + m) * length
      part[m].withUnsafeBufferPointer { x in
        for n in 0..<hop {
          let rise = Float(0.5 - 0.5 * cos(.pi * (Double(n) + 0.5) / Double(hop)))
          let last = min(length - 1, frame + n)
          var (a, b): (Float, Float) = (0, 0)
          for tap in 0...last {
            a += old[first + tap] * x[frame + n - tap]
            b += new[first + tap] * x[frame + n - tap]
          }
          output[ear][n] += a + rise * (b - a)
        }
      }
    }
  }
  return output
}

var seconds = 0.0
var hops = 0
for line in try String(contentsOfFile: arguments[4], encoding: .utf8).split(separator: "\n") {
  let paths = line.split(separator: " ").map(String.init)
  let mixture = try AudioClip(path: paths[0]).channels
  let parts = try paths.dropFirst().map { try AudioClip(path: $0).channels }
  let finder = DirectionFinder(array, up: frame.up.vector)
  let corrected = CorrectedFilters(finder, taps: ears.base.taps)
  var target = AdaptiveFilters.Target(base: ears.base)
  (target.ears, target.array) = (ears, ears.array)
  corrected.use(target, feed: 0)
  corrected.feeds[0]?.strength = 1
  var (previous, current) = (linear, linear)
  var adaptive = [[[Float]]](repeating: [[Float]](repeating: [], count: 2), count: parts.count)
  var plain = adaptive
  for frame in stride(from: 0, to: mixture[0].count - hop + 1, by: hop) {
    for (n, part) in parts.enumerated() {
      let output = play(part, at: frame, from: previous, to: current)
      let still = play(part, at: frame, from: linear, to: linear)
      for ear in 0..<2 {
        adaptive[n][ear] += output[ear]
        plain[n][ear] += still[ear]
      }
    }
    previous = current
    let before = ContinuousClock.now
    let blocks = mixture.map { Array($0[frame..<frame + hop]) }
    switch finder.append(blocks) {
    case .none: break
    case .silence: corrected.reset()
    case .directions: corrected.update()
    }
    corrected.writeFilters()
    seconds += (ContinuousClock.now - before) / .seconds(1)
    hops += 1
    current = Array(
      UnsafeBufferPointer(start: corrected.feeds[0]?.filters.floats, count: 2 * microphones * length))
  }
  for (n, path) in paths.dropFirst().enumerated() {
    let name = path.hasSuffix(".wav") ? String(path.dropLast(4)) : path
    try AudioClip(sampleRate: sampleRate, channels: plain[n]).write(wav: name + ".linear.wav")
    try AudioClip(sampleRate: sampleRate, channels: adaptive[n]).write(wav: name + ".adaptive.wav")
  }
}
print(
  "\(seconds / Double(hops) * 1e6) us per hop of \(hop) frames, \(100 * seconds / Double(hops * hop) * Double(sampleRate)) % of a core"
)
