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

  init(_ table: SteeringTable, _ events: SoundEvents, order: [Int]) {
    self.init(table, re: events.re, im: events.im, events: events.count, order: order)
  }

  private init(_ table: SteeringTable, re: [Float], im: [Float], events: Int, order: [Int]) {
    self.table = table
    self.re = re
    self.im = im
    self.events = events
    self.order = order
    let (F, D) = (table.frequencies.count, table.sources)
    (beamRe, beamIm) = ([], [])
    var allRe = [Float](repeating: 0, count: events * F * D)
    var allIm = allRe
    allRe.withUnsafeMutableBufferPointer { br in
      allIm.withUnsafeMutableBufferPointer { bi in
        for e in 0..<events {
          for f in 0..<F {
            let to = (e * F + f) * D
            addBeams(br.baseAddress! + to, bi.baseAddress! + to, event: e, frequency: f, order: order)
          }
        }
      }
    }
    (beamRe, beamIm) = (allRe, allIm)
    let zero = [Float](repeating: 0, count: F * D)
    let none = [Float](repeating: 0, count: events * F)
    (scores, sources) = best(zero, zero, none, none)
  }

  /// Adds the beams of an event at a frequency, under an order, to `toRe` and `toIm`, which have room for all sources.
  private func addBeams(
    _ toRe: UnsafeMutablePointer<Float>, _ toIm: UnsafeMutablePointer<Float>, event e: Int, frequency f: Int,
    order: [Int]
  ) {
    let (F, M, D) = (table.frequencies.count, table.microphones, table.sources)
    table.re.withUnsafeBufferPointer { ar in
      table.im.withUnsafeBufferPointer { ai in
        for m in 0..<M {
          let at = (e * M + m) * F + f
          let from = (f * M + order[m]) * D
          Self.addBeams(toRe, toIm, ar.baseAddress! + from, ai.baseAddress! + from, re[at], im[at], D)
        }
      }
    }
  }

  /// Adds conj(a)·x to the beams. Plain pointers and no other work, so that the compiler vectorises the loop.
  private static func addBeams(
    _ toRe: UnsafeMutablePointer<Float>, _ toIm: UnsafeMutablePointer<Float>, _ aRe: UnsafePointer<Float>,
    _ aIm: UnsafePointer<Float>, _ xRe: Float, _ xIm: Float, _ count: Int
  ) {
    for d in 0..<count {
      toRe[d] += aRe[d] * xRe + aIm[d] * xIm
      toIm[d] += aRe[d] * xIm - aIm[d] * xRe
    }
  }

  /// Adds the weighted powers of the beams plus conj(v)·y to `sum`. Vectorised like `addBeams`.
  private static func addPowers(
    _ sum: UnsafeMutablePointer<Float>, _ beamRe: UnsafePointer<Float>, _ beamIm: UnsafePointer<Float>,
    _ vRe: UnsafePointer<Float>, _ vIm: UnsafePointer<Float>, _ weights: UnsafePointer<Float>, _ yRe: Float,
    _ yIm: Float, _ count: Int
  ) {
    for d in 0..<count {
      let a = beamRe[d] + (vRe[d] * yRe + vIm[d] * yIm)
      let b = beamIm[d] + (vRe[d] * yIm - vIm[d] * yRe)
      sum[d] += (a * a + b * b) * weights[d]
    }
  }

  /// Adds the weighted powers of the beams to `sum`. Vectorised like `addBeams`.
  private static func addPowers(
    _ sum: UnsafeMutablePointer<Float>, _ beamRe: UnsafePointer<Float>, _ beamIm: UnsafePointer<Float>,
    _ weights: UnsafePointer<Float>, _ count: Int
  ) {
    for d in 0..<count { sum[d] += (beamRe[d] * beamRe[d] + beamIm[d] * beamIm[d]) * weights[d] }
  }

  /// Scores under another order. The beams of one frequency at a time stay in the processor's cache.
  func scores(order: [Int]) -> [Float] {
    let (F, D) = (table.frequencies.count, table.sources)
    var (beamRe, beamIm) = ([Float](repeating: 0, count: D), [Float](repeating: 0, count: D))
    var sums = [Float](repeating: 0, count: events * D)
    beamRe.withUnsafeMutableBufferPointer { br in
      beamIm.withUnsafeMutableBufferPointer { bi in
        sums.withUnsafeMutableBufferPointer { sums in
          table.weights.withUnsafeBufferPointer { w in
            for f in 0..<F {
              for e in 0..<events {
                br.update(repeating: 0)
                bi.update(repeating: 0)
                addBeams(br.baseAddress!, bi.baseAddress!, event: e, frequency: f, order: order)
                Self.addPowers(
                  sums.baseAddress! + e * D, br.baseAddress!, bi.baseAddress!, w.baseAddress! + f * D, D)
              }
            }
          }
        }
      }
    }
    return (0..<events).map { e in sums[e * D..<(e + 1) * D].max() ?? -1 }
  }

  /// The same events under another order.
  func reordered(_ order: [Int]) -> SteeredPowers {
    SteeredPowers(table, re: re, im: im, events: events, order: order)
  }

  /// The same events with some channels inverted.
  func inverting(_ channels: [Int]) -> SteeredPowers {
    channels.reduce(self) { $0.changed(channel: $1, advance: 0, inverts: true) }
  }

  /// The same events with a channel multiplied by e^(jω·delay), and by -1 if `inverts`.
  func changed(channel: Int, advance: Double, inverts: Bool = false) -> SteeredPowers {
    var (re, im) = (re, im)
    let (F, M) = (table.frequencies.count, table.microphones)
    for e in 0..<events {
      for f in 0..<F {
        let at = (e * M + channel) * F + f
        let angle = 2 * .pi * table.frequencies[f] * advance + (inverts ? .pi : 0)
        let (c, s) = (Float(cos(angle)), Float(sin(angle)))
        (re[at], im[at]) = (re[at] * c - im[at] * s, re[at] * s + im[at] * c)
      }
    }
    return SteeredPowers(table, re: re, im: im, events: events, order: order)
  }

  /// Scores with the microphones of channels `i` and `j` exchanged.
  func scores(swapping i: Int, _ j: Int) -> [Float] {
    let (F, M, D) = (table.frequencies.count, table.microphones, table.sources)
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
  func scores(channel: Int, advance: Double, inverts: Bool = false) -> [Float] {
    let (F, M, D) = (table.frequencies.count, table.microphones, table.sources)
    var (vr, vi) = ([Float](), [Float]())
    vr.reserveCapacity(F * D)
    vi.reserveCapacity(F * D)
    var (yr, yi) = ([Float](repeating: 0, count: events * F), [Float](repeating: 0, count: events * F))
    for f in 0..<F {
      let from = (f * M + order[channel]) * D
      vr += table.re[from..<from + D]
      vi += table.im[from..<from + D]
      let angle = 2 * .pi * table.frequencies[f] * advance + (inverts ? .pi : 0)
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
    let (F, D) = (table.frequencies.count, table.sources)
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
                  sum.update(repeating: 0)
                  for f in 0..<F {
                    let (at, from) = ((e * F + f) * D, f * D)
                    Self.addPowers(
                      sum.baseAddress!, br.baseAddress! + at, bi.baseAddress! + at, vr.baseAddress! + from,
                      vi.baseAddress! + from, w.baseAddress! + from, yr[e * F + f], yi[e * F + f], D)
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
