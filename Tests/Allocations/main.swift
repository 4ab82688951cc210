import Acoustics
import Adaptation
import AllocationCount
import CFiles
import FasterKernels
import Foundation
import Presets
import Realtime
import Settings
import TestSupport

// Runs 10 000 periods with changes, takes, another feed and new period lengths. Prints how often the callback allocated or
// freed memory, and how many of each the run contained. --baseline uses the slowest kernels. --leaky
// allocates in every thousandth callback, so that the correct count is known.

let leaky = CommandLine.arguments.contains("--leaky")
let device = try PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(named: "ring7")
let (microphones, taps) = (device.microphones.count, 384)
FasterKernels.register()
flushDenormalsToZero()
var noise = SeededNoise(seed: 4)
let sets = (0..<4).map { _ in
  FilterSet(
    coefficients: (0..<2).map { _ in (0..<microphones).map { _ in noise.samples(taps, amplitude: 0.001) } })
}
let four = FilterSet(
  coefficients: (0..<4).map { _ in (0..<microphones).map { _ in noise.samples(taps, amplitude: 0.001) } })
let set: InstructionSet = CommandLine.arguments.contains("--baseline") ? .baseline : .best
let engine = Engine(
  microphones: microphones, taps: taps, sampleRate: 48000,
  preRoll: PreRoll(microphones: microphones, capacityFrames: 5000), instructionSet: set)
engine.start(with: sets[0])
engine.prepare(period: 64)
let longest = 480
let input = UnsafeMutablePointer<Float>.allocate(capacity: longest)
input.initialize(from: noise.samples(longest, amplitude: 0.5), count: longest)
let own = UnsafeMutablePointer<Float>.allocate(capacity: 9600)
own.initialize(from: noise.samples(9600, amplitude: 0.5), count: 9600)
let output = UnsafeMutablePointer<Float>.allocate(capacity: 6 * longest)
output.initialize(repeating: 0, count: 6 * longest)
let outputs = UnsafeMutablePointer<UnsafeMutablePointer<Float>?>.allocate(capacity: 4)
for n in 0..<4 { (outputs + n).initialize(to: output + (2 + n) * longest) }
let inputs = UnsafeMutableBufferPointer<UnsafePointer<Float>?>.allocate(capacity: microphones)
inputs.initialize(repeating: UnsafePointer(input))

/// Global, so that the optimiser cannot remove the allocation.
nonisolated(unsafe) var kept: UnsafeMutableRawPointer?
var (calls, adopted, began, ended, applied, feeds, left) = (0, 0, 0, 0, 0, 0, 0)
var feed: Int?
var frames = 64
for n in 0..<10_000 {
  if n % 37 == 0 {
    _ = try? engine.change(to: sets[n / 37 % 4], gain: 1, highPass: n / 37 % 3 == 0 ? nil : 80)
  }
  if n % 500 == 100 { _ = try? engine.beginTake(into: TakeRing(outputs: 2, capacityFrames: 4096)) }
  if n % 500 == 200 { _ = try? engine.endTake() }
  if n % 250 == 0 {
    if let ending = feed { _ = try? engine.endFeed(ending) }
    feed = try? engine.beginFeed(outputs: 4, firstOutput: 0)?.feed
  }
  if n % 50 == 10, let feed {
    _ = try? engine.change(feed: feed, to: four, gain: Float(n % 3), highPass: n % 4 == 0 ? 80 : nil)
  }
  if n % 97 == 0 {
    let next = [64, 32, 128, 480, 100][n / 97 % 5]
    if next != frames { adopted += 1 }
    frames = next
    engine.prepare(period: frames)
  }
  count_begin()
  // Now and then a period that nothing was prepared for.
  engine.process(
    Period(
      frames: n % 89 == 60 ? 96 : frames, inputs: UnsafePointer(inputs.baseAddress!), left: output,
      right: output + longest,
      feeds: UnsafePointer(outputs)))
  if leaky, n % 1000 == 0 { kept = malloc(100) }
  calls += count_end()
  for report in engine.drainReports() {
    switch report {
    case .applied: applied += 1
    case .takeBegan: began += 1
    case .takeEnded: ended += 1
    case .feedBegan: feeds += 1
    default: break
    }
  }
}

// 1000 feeds that come and go must leave no memory behind. The first ones fill what is kept for good.
if let feed { _ = try? engine.endFeed(feed) }
frames = 64
engine.prepare(period: frames)
var before = 0
for n in 0..<1100 {
  if n == 100 { before = Int(pinna_bytes_in_use()) }
  let coming = try? engine.beginFeed(outputs: 4, firstOutput: 0)?.feed
  if let coming { _ = try? engine.change(feed: coming, to: four, gain: 1) }
  for step in 0..<2 {
    engine.process(
      Period(
        frames: frames, inputs: UnsafePointer(inputs.baseAddress!), left: output, right: output + longest,
        feeds: UnsafePointer(outputs)))
    if step == 0, let coming { _ = try? engine.endFeed(coming) }
    for report in engine.drainReports() { if case .feedEnded = report { left += 1 } }
  }
}
let growth = Int(pinna_bytes_in_use()) - before
let statistics = engine.statistics
print(
  "calls \(calls) periods 10000 adopted \(adopted) applied \(applied) takes \(began) ended \(ended) feeds \(feeds) left \(left) growth \(growth) "
    + "unprepared \(statistics.unpreparedPeriods)")

// The worker of stereo that follows the sound, and of talkers: its calls must allocate nothing once it runs.
let base = FilterSet(
  coefficients: (0..<2).map { _ in device.microphones.map { _ in noise.samples(256, amplitude: 0.001) } })
var followed = FeedSetting(
  Selection(dataSource: "Front", polarPattern: .stereo, inputOrientation: .portrait), adaptation: 1, wind: 1)
followed.room = Decibels(-12)
let target = try AdaptiveModel(device, sampleRate: 48_000).target(followed, whole: base, delayFrames: 64)
let adapting = Engine(
  microphones: device.microphones.count, taps: 256, sampleRate: 48_000, instructionSet: set, adapts: true)
adapting.start(with: base)
adapting.prepare(period: 64)
let adaptive = AdaptiveFilters(adapting)!
adaptive.start([0: target!])
var worker = 0
for n in 0..<3000 {
  // Bursts, so that talkers come and go; then noise of each microphone's own, as wind is.
  for m in inputs.indices {
    inputs[m] = UnsafePointer(
      n / 200 % 3 == 0 ? output : n / 200 % 3 == 1 ? input : own + 64 * (n % 20 + m * 20))
  }
  adapting.process(
    Period(
      frames: 64, inputs: UnsafePointer(inputs.baseAddress!), left: output + longest,
      right: output + 2 * longest))
  if n >= 500 { count_begin() }
  adaptive.work()
  if n >= 500 { worker += count_end() }
  _ = adapting.drainReports()
}
print(
  "worker \(worker) talkers \(adaptive.talkers?.count ?? -1) adapting \(adaptive.state == .adapting ? 1 : 0) "
    + "wind \(adaptive.presentWind == nil ? 0 : 1)")
