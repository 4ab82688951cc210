import Acoustics
import Foundation
import HeadResponses
import Manifolds
import Measurements
import Numerics
import Testing

@Suite("The HRTF") struct HRTFTests {
  static let hrtf = try! HRTF()

  @Test("the ears have the oracle's responses") func oracle() {
    let golden = Goldens.all.hrtf
    let directions = zip(golden.azimuths, golden.elevations).map {
      sphericalUnit(azimuth: .degrees($0), elevation: .degrees($1))
    }
    let response = StereoTests.oracleHead.responses(from: directions, frequencies: golden.frequencies)
    for f in golden.frequencies.indices {
      for d in directions.indices {
        for ear in 0..<2 {
          let expected = Complex(golden.real[f][d][ear], golden.imaginary[f][d][ear])
          let level = 20 * log10(response[f, ear, d].magnitude / expected.magnitude)
          #expect(abs(level) < 0.15, "\(golden.frequencies[f]) Hz, \(golden.azimuths[d])°, ear \(ear)")
          // The oracle finds the onset at another rate: up to a quarter of a frame of common delay.
          let turned = (response[f, ear, d] / expected).phase
          let allowed: Double = 2 * .pi * golden.frequencies[f] * 6e-6 + 0.01
          #expect(abs(turned) < allowed)
        }
      }
    }
  }

  @Test("a source on the left is louder in the left ear") func louderEar() {
    let response = Self.hrtf.responses(from: [[0, 1, 0]], frequencies: [2000, 4000, 8000])
    for f in 0..<3 { #expect(response[f, 0, 0].magnitude > 2 * response[f, 1, 0].magnitude) }
  }

  @Test("a source on the left reaches the left ear earlier by a head's delay") func leadingEar() {
    // Woodworth: (a/c)(θ + sin θ) = 656 µs at 90°; low frequencies lie up to a half above it.
    let response = Self.hrtf.responses(from: [[0, 1, 0]], frequencies: [500])
    let lead = (response[0, 0, 0] / response[0, 1, 0]).phase / (2 * .pi * 500) * 1e6
    #expect(lead > 600 && lead < 900)
  }

  @Test("the diffuse field is flat over the measured directions") func diffuseField() {
    let frequencies = [250.0, 500, 1000, 2000, 4000, 8000, 12_000]
    // KEMAR was measured from −40° up; the cap below is extrapolated and softer.
    let sphere = fibonacciSphere(400).filter { $0.z > -0.64 }
    let response = Self.hrtf.responses(from: sphere, frequencies: frequencies)
    for f in frequencies.indices {
      let energy = sphere.indices.reduce(0) { sum, d in
        sum + response[f, 0, d].squaredMagnitude + response[f, 1, d].squaredMagnitude
      }
      #expect(abs(10 * log10(energy / Double(2 * sphere.count))) < 1.2, "\(frequencies[f]) Hz")
    }
  }

  @Test("a missing file is an error that names it") func missingFile() {
    #expect(throws: DesignError.self) { try HRTF(path: "/nonexistent.sofa") }
    do { _ = try HRTF(path: "/nonexistent.sofa") } catch {
      #expect(error.description.contains("/nonexistent.sofa"))
    }
  }

  // KEMAR was measured from −40° up. From there to the nadir nothing is known: the fill is about as loud as the ring at
  // −40°, at the octaves that make loudness.
  @Test("A12: directions below those that were measured are filled smoothly")
  func cap() {
    let frequencies = [250, 500, 1000, 2000, 4000, 8000.0]
    let sphere = fibonacciSphere(1500)
    let response = Self.hrtf.responses(from: sphere, frequencies: frequencies)
    for f in frequencies.indices {
      func energy(_ heights: ClosedRange<Double>) -> Double {
        let inside = sphere.indices.filter { heights.contains(sphere[$0].z) }
        return mean(
          inside.map { response[f, 0, $0].squaredMagnitude + response[f, 1, $0].squaredMagnitude })
      }
      let difference = 10 * log10(energy(-1 ... -0.75) / energy(-0.64 ... -0.5))
      #expect(difference > -5 && difference < 2.5, "\(frequencies[f]) Hz: \(difference) dB")
    }
  }

  @Test("A12: above the band of a file with a low sample rate, levels stay, and nothing is mirrored")
  func lowRate() throws {
    let ears = FreeFieldManifold(positions: [[0.08, 0, 0], [-0.08, 0, 0]])
    let files = try MeasuredFiles(ears, directions: fibonacciSphere(200), sampleRate: 16_000)
    let hrtf = try HRTF(ImpulseResponses(path: files.wav, directions: files.table))
    let directions = fibonacciSphere(100)
    let response = hrtf.responses(from: directions, frequencies: [7360, 12_000, 18_000])
    for d in directions.indices {
      for ear in 0..<2 {
        let edge = response[0, ear, d].magnitude
        for f in 1...2 { #expect(abs(20 * log10(response[f, ear, d].magnitude / edge)) < 0.5) }
      }
    }
  }
}
