import Glibc

/// How well single waves explain each event, under one order, sign and delay of the channels: the share of the energy
/// that a beam towards the best direction collects (steered response power with phase transform).
/// - Source: DiBiase, A High-Accuracy, Low-Latency Technique for Talker Localization (2000).
struct SteeredPowers {
  private let table: SteeringTable
  /// Shape: `[event][microphone][frequency]`.
  private(set) var re: [Float]
  private(set) var im: [Float]
  let events: Int
  /// The microphone of the device (of the table) that each channel is taken for.
  let order: [Int]
  /// Beams: shape `[event][frequency][source]`.
  private var beamRe: [Float]
  private var beamIm: [Float]
  /// By event: 0…1.
  private(set) var scores: [Float] = []
  /// The best source of each event.
  private(set) var sources: [Int] = []

  var mean: Double { scores.isEmpty ? 0 : Double(scores.reduce(0, +)) / Double(scores.count) }

  init(_ table: SteeringTable, _ events: SoundEvents, order: [Int]) {
    self.init(table, re: events.re, im: events.im, events: events.count, order: order)
  }

  private init(_ table: SteeringTable, re: [Float], im: [Float], events: Int, order: [Int]) {
    self.table = table
    self.re = re
    self.im = im
    self.events = events
    self.order = order
    let (F, M, D) = (table.frequencies, table.microphones, table.sources)
    beamRe = [Float](repeating: 0, count: events * F * D)
    beamIm = beamRe
    beamRe.withUnsafeMutableBufferPointer { br in
      beamIm.withUnsafeMutableBufferPointer { bi in
        table.re.withUnsafeBufferPointer { ar in
          table.im.withUnsafeBufferPointer { ai in
            for e in 0..<events {
              for f in 0..<F {
                let to = (e * F + f) * D
                for m in 0..<M {
                  let (xr, xi) = (re[(e * M + m) * F + f], im[(e * M + m) * F + f])
                  let from = (f * M + order[m]) * D
                  for d in 0..<D {
                    br[to + d] += ar[from + d] * xr + ai[from + d] * xi
                    bi[to + d] += ar[from + d] * xi - ai[from + d] * xr
                  }
                }
              }
            }
          }
        }
      }
    }
    let zero = [Float](repeating: 0, count: F * D)
    let none = [Float](repeating: 0, count: events * F)
    (scores, sources) = best(zero, zero, none, none)
  }

  /// The same events under another order.
  func reordered(_ order: [Int]) -> SteeredPowers {
    SteeredPowers(table, re: re, im: im, events: events, order: order)
  }

  /// The same events with a channel multiplied by e^(jω·delay), and by -1 if `inverts`.
  func changed(channel: Int, advance: Double, inverts: Bool = false, frequencies: [Double]) -> SteeredPowers {
    var (re, im) = (re, im)
    let (F, M) = (table.frequencies, table.microphones)
    for e in 0..<events {
      for f in 0..<F {
        let at = (e * M + channel) * F + f
        let angle = 2 * .pi * frequencies[f] * advance + (inverts ? .pi : 0)
        let (c, s) = (Float(cos(angle)), Float(sin(angle)))
        (re[at], im[at]) = (re[at] * c - im[at] * s, re[at] * s + im[at] * c)
      }
    }
    return SteeredPowers(table, re: re, im: im, events: events, order: order)
  }

  /// Scores with the microphones of channels `i` and `j` exchanged.
  func scores(swapping i: Int, _ j: Int) -> [Float] {
    let (F, M, D) = (table.frequencies, table.microphones, table.sources)
    var (vr, vi) = ([Float](repeating: 0, count: F * D), [Float](repeating: 0, count: F * D))
    for f in 0..<F {
      let (a, b) = ((f * M + order[i]) * D, (f * M + order[j]) * D)
      for d in 0..<D {
        vr[f * D + d] = table.re[b + d] - table.re[a + d]
        vi[f * D + d] = table.im[b + d] - table.im[a + d]
      }
    }
    var (yr, yi) = ([Float](repeating: 0, count: events * F), [Float](repeating: 0, count: events * F))
    for e in 0..<events {
      for f in 0..<F {
        yr[e * F + f] = re[(e * M + i) * F + f] - re[(e * M + j) * F + f]
        yi[e * F + f] = im[(e * M + i) * F + f] - im[(e * M + j) * F + f]
      }
    }
    return best(vr, vi, yr, yi).0
  }

  /// Scores with a channel multiplied by e^(jω·advance), and by -1 if `inverts`.
  func scores(channel: Int, advance: Double, inverts: Bool = false, frequencies: [Double]) -> [Float] {
    let (F, M, D) = (table.frequencies, table.microphones, table.sources)
    var (vr, vi) = ([Float](), [Float]())
    vr.reserveCapacity(F * D)
    vi.reserveCapacity(F * D)
    var (yr, yi) = ([Float](repeating: 0, count: events * F), [Float](repeating: 0, count: events * F))
    for f in 0..<F {
      let from = (f * M + order[channel]) * D
      vr += table.re[from..<from + D]
      vi += table.im[from..<from + D]
      let angle = 2 * .pi * frequencies[f] * advance + (inverts ? .pi : 0)
      let (c, s) = (Float(cos(angle)) - 1, Float(sin(angle)))
      for e in 0..<events {
        let at = (e * M + channel) * F + f
        yr[e * F + f] = re[at] * c - im[at] * s
        yi[e * F + f] = re[at] * s + im[at] * c
      }
    }
    return best(vr, vi, yr, yi).0
  }

  /// Scores and best sources with conj(v)·y added to each beam. Shapes: v `[frequency][source]`, y `[event][frequency]`.
  private func best(_ vr: [Float], _ vi: [Float], _ yr: [Float], _ yi: [Float]) -> ([Float], [Int]) {
    let (F, D) = (table.frequencies, table.sources)
    var scores = [Float](repeating: 0, count: events)
    var sources = [Int](repeating: 0, count: events)
    var sum = [Float](repeating: 0, count: D)
    beamRe.withUnsafeBufferPointer { br in
      beamIm.withUnsafeBufferPointer { bi in
        vr.withUnsafeBufferPointer { vr in
          vi.withUnsafeBufferPointer { vi in
            table.weights.withUnsafeBufferPointer { w in
              sum.withUnsafeMutableBufferPointer { sum in
                for e in 0..<events {
                  for d in 0..<D { sum[d] = 0 }
                  for f in 0..<F {
                    let (y, z) = (yr[e * F + f], yi[e * F + f])
                    let (at, from) = ((e * F + f) * D, f * D)
                    for d in 0..<D {
                      let a = br[at + d] + (vr[from + d] * y + vi[from + d] * z)
                      let b = bi[at + d] + (vr[from + d] * z - vi[from + d] * y)
                      sum[d] += (a * a + b * b) * w[from + d]
                    }
                  }
                  var top: Float = -1
                  for d in 0..<D where sum[d] > top {
                    top = sum[d]
                    sources[e] = d
                  }
                  scores[e] = top
                }
              }
            }
          }
        }
      }
    }
    return (scores, sources)
  }
}

/// How two explanations of the same events compare.
struct Comparison {
  /// Mean gain of the second over the first, relative to the first's mean.
  let gain: Double
  /// The mean gain in its standard errors.
  let certainty: Double

  init(_ first: [Float], _ second: [Float]) {
    let differences = zip(first, second).map { Double($1 - $0) }
    let count = Double(max(1, differences.count))
    let mean = differences.reduce(0, +) / count
    let variance = differences.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
    gain = mean / max(1e-9, first.reduce(0.0) { $0 + Double($1) } / count)
    certainty = mean / ((variance / count).squareRoot() + 1e-6)
  }
}
