import Acoustics
import AudioFiles
import Foundation
import Simulation
import TestSupport
import Testing

@Suite("Rooms")
struct RoomTests {
  static let frame = HeadFrame(forward: .plusZ, orientation: .landscapeRight)!
  static let size: SIMD3<Double> = [5.2, 4.1, 2.7]
  static let place: SIMD3<Double> = [1.9, 1.7, 1.2]
  static let absorption = Room.Absorption(low: [0.5, 0.3, 0.8], high: [0.2, 0.6, 0.4])

  static func room(order: Int) -> Room {
    Room(frame: frame, size: size, device: place, absorption: absorption, order: order)
  }

  static func heard(_ voice: BandlimitedSignal, _ path: Path, _ device: Device, order: Int) throws
    -> AudioClip
  {
    try Scene(
      title: "", device: device, talkers: [Talker(voice: voice, path: path)], room: room(order: order)
    ).microphones(sampleRate: 48000)
  }

  /// The unfolded room: cell k of an axis is the room mirrored k times. Positions relative to the room's
  /// corner, and the amplitude that remains after the walls' absorption.
  static func unfolded(_ talker: SIMD3<Double>, order: Int) -> [(position: SIMD3<Double>, gain: Double)] {
    var images: [(SIMD3<Double>, Double)] = []
    for i in -order...order {
      for j in -order...order {
        for k in -order...order where abs(i) + abs(j) + abs(k) <= order {
          var position = talker
          var energy = 1.0
          for (axis, cell) in [i, j, k].enumerated() {
            position[axis] =
              Double(cell) * size[axis] + (cell % 2 == 0 ? talker[axis] : size[axis] - talker[axis])
            // Walls are crossed in turn, beginning with the one on that side.
            for n in 0..<abs(cell) {
              let isHigh = (cell > 0) == (n % 2 == 0)
              energy *= 1 - (isHigh ? absorption.high[axis] : absorption.low[axis])
            }
          }
          images.append((position, energy.squareRoot()))
        }
      }
    }
    return images
  }

  @Test(
    "a room's reflections equal the sound of its unfolded images, to -80 dB",
    arguments: [(0, 1), (1, 7), (2, 25), (3, 63)])
  func images(order: Int, count: Int) throws {
    let talker: SIMD3<Double> = [4.4, 0.6, 1.6]
    let frequency = 430.0
    let voice = BandlimitedSignalTests.sine(frequency, rate: 48000, seconds: 0.4)
    let device = TestDevices.phone5(body: .free)
    let path = Path(try #require(Place(position: Self.frame.device(fromHead: talker - Self.place))))
    let heard = try Self.heard(voice, path, device, order: order)
    let images = Self.unfolded(talker, order: order)
    #expect(images.count == count)
    for (microphone, channel) in zip(device.microphones, heard.channels) {
      // After the last image begins and before the first one ends.
      let frames = 6000..<18_000
      var expected = [Double](repeating: 0, count: frames.count)
      for (position, gain) in images {
        let way = position - Self.place
        let lead = Self.frame.device(fromHead: way / way.length).dot(microphone.position) / 343
        for (i, n) in frames.enumerated() {
          let time = Double(n) / 48000 - way.length / 343 + lead
          expected[i] += gain / way.length * sin(2 * .pi * frequency * time)
        }
      }
      #expect(errorLevel(channel[frames], expected.map { Float($0) }) <= -80, "\(microphone.name)")
    }
  }

  @Test("a click arrives at the time and level of each of the six walls")
  func click() throws {
    let talker: SIMD3<Double> = [2.4, 1.1, 0.6]
    let voice = BandlimitedSignal(samples: [1] + [Float](repeating: 0, count: 100), sampleRate: 48000)
    let device = try Device(
      name: "one", title: "", body: .free, microphones: [Microphone(name: "one", position: [0, 0, 0])],
      dataSources: [])
    let path = Path(try #require(Place(position: Self.frame.device(fromHead: talker - Self.place))))
    let heard = try Self.heard(voice, path, device, order: 1).channels[0]
    // Mirrored at one wall each, by hand.
    let mirrored: [(SIMD3<Double>, Double)] = [
      ([2.4, 1.1, 0.6], 0), ([-2.4, 1.1, 0.6], 0.5), ([8.0, 1.1, 0.6], 0.2), ([2.4, -1.1, 0.6], 0.3),
      ([2.4, 7.1, 0.6], 0.6), ([2.4, 1.1, -0.6], 0.8), ([2.4, 1.1, 4.8], 0.4),
    ]
    for (position, absorbed) in mirrored {
      let distance = (position - Self.place).length
      let arrival = distance / 343 * 48000
      // The click has an area of 1: samples within 0.8 ms of its arrival sum up to its amplitude, if it is
      // alone.
      let others = mirrored.filter { $0.0 != position }.map { ($0.0 - Self.place).length / 343 * 48000 }
      try #require(others.allSatisfy { abs($0 - arrival) > 90 }, "arrivals apart")
      let around = Int(arrival.rounded()) - 40...Int(arrival.rounded()) + 40
      let centre = heard[around].enumerated().map { Double($0 + around.lowerBound) * Double($1) }.reduce(0, +)
      let sum = heard[around].map(Double.init).reduce(0, +)
      #expect(abs(sum * distance / (1 - absorbed).squareRoot() - 1) < 0.01)
      #expect(abs(centre / sum - arrival) < 0.5)
    }
  }

  @Test("reflections of a walking talker equal its walking images, to -80 dB")
  func walking() throws {
    let (from, to): (SIMD3<Double>, SIMD3<Double>) = ([4.4, 0.6, 1.6], [0.7, 3.6, 1.1])
    let frequency = 430.0
    let voice = BandlimitedSignalTests.sine(frequency, rate: 48000, seconds: 1)
    let device = TestDevices.phone5(body: .free)
    let path = Path(
      straight: [from, to].enumerated().map {
        (Double($0), Self.frame.device(fromHead: $1 - Self.place))
      })
    let heard = try Self.heard(voice, path, device, order: 2)
    let (first, last) = (Self.unfolded(from, order: 2), Self.unfolded(to, order: 2))
    let frames = Array(stride(from: 6000, to: 44_000, by: 7))
    var expected = [[Double]](repeating: [Double](repeating: 0, count: frames.count), count: 5)
    for (a, b) in zip(first, last) {
      for (i, n) in frames.enumerated() {
        // Bisection for the time of the speech that arrives now.
        let time = Double(n) / 48000
        var (low, high) = (time - 0.2, time)
        func way(_ spoken: Double) -> SIMD3<Double> {
          a.position + spoken * (b.position - a.position) - Self.place
        }
        for _ in 0..<60 {
          let middle = (low + high) / 2
          if middle + way(middle).length / 343 < time { low = middle } else { high = middle }
        }
        let now = way(low)
        let radial = (b.position - a.position).dot(now / now.length)
        let direction = Self.frame.device(fromHead: now / now.length)
        for (m, microphone) in device.microphones.enumerated() {
          let lead = direction.dot(microphone.position) / 343 / (1 + radial / 343)
          expected[m][i] += a.gain / now.length * sin(2 * .pi * frequency * (low + lead))
        }
      }
    }
    for m in 0..<5 {
      let got = frames.map { heard.channels[m][$0] }
      #expect(errorLevel(got, expected[m].map { Float($0) }) <= -80)
    }
  }
}

@Suite("Noise in scenes")
struct SceneNoiseTests {
  /// A talker with a silent voice, so that only the noise is left.
  static func heard(_ noise: SceneNoise, seconds: Double, rate: Int, device: Device) throws -> [[Float]] {
    let silence = BandlimitedSignal(
      samples: [Float](repeating: 0, count: Int(seconds * 8000)), sampleRate: 8000)
    return try Scene(
      title: "", device: device, talkers: [Talker(voice: silence, direction: .plusX)], noise: noise
    ).microphones(sampleRate: rate).channels
  }

  static func correlation(_ a: [Float], _ b: [Float]) -> Double {
    func sum(_ a: [Float], _ b: [Float]) -> Double {
      zip(a, b).reduce(0) { $0 + Double($1.0) * Double($1.1) }
    }
    return sum(a, b) / (sum(a, a) * sum(b, b)).squareRoot()
  }

  @Test("sensor noise has the requested level and is uncorrelated between microphones")
  func sensor() throws {
    let heard = try Self.heard(
      SceneNoise(sensor: Decibels(-60)), seconds: 2, rate: 48000, device: TestDevices.phone5(body: .free))
    for (m, channel) in heard.enumerated() {
      #expect(abs(level(channel) + 60) < 0.1)
      for other in heard[..<m] { #expect(abs(Self.correlation(channel, other)) < 0.02) }
    }
  }

  /// Cook et al., Measurement of correlation coefficients in reverberant sound fields, J. Acoust. Soc. Am. 27
  /// (1955): sin(kr)/(kr) at one frequency, here averaged over the signal's band.
  @Test(
    "diffuse noise has the correlation sin(kr)/(kr) between two microphones", .long,
    arguments: [0.02, 0.06, 0.12])
  func diffuse(distance: Double) throws {
    let device = try Device(
      name: "two", title: "", body: .free,
      microphones: [
        Microphone(name: "a", position: [-distance / 2, 0, 0]),
        Microphone(name: "b", position: [distance / 2, 0, 0]),
      ], dataSources: [])
    let rate = 8000
    let heard = try Self.heard(SceneNoise(diffuse: Decibels(-40)), seconds: 8, rate: rate, device: device)
    let frequencies = stride(from: 5.0, to: 0.5 * Double(rate), by: 10)
    let expected =
      frequencies.map { f in
        let kr = 2 * .pi * f / 343 * distance
        return sin(kr) / kr
      }.reduce(0, +) / Double(Array(frequencies).count)
    #expect(abs(Self.correlation(heard[0], heard[1]) - expected) < 0.05)
    // Of the -40 dB at 48 kHz, a band a sixth as wide.
    #expect(abs(level(heard[0]) - (-40 + 10 * log10(8.0 / 48))) < 0.3)
  }
}
