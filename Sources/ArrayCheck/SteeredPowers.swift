import Glibc

/// How well single waves explain each event, under one order, sign and delay of the channels: the share of the energy
/// that a beam towards the best direction collects (steered response power with phase transform).
/// - Source: DiBiase, A High-Accuracy, Low-Latency Technique for Talker Localization (2000).
struct SteeredPowers {
  private let table: SteeringTable
  private let events: SoundEvents
  /// The microphone of the device (of the table) that each channel is taken for.
  let order: [Int]
  /// Shape: `[event][frequency][source]`.
  private let beams: SplitComplex
  /// By event: 0…1.
  private(set) var scores: [Float] = []
  /// The best source of each event.
  private(set) var sources: [Int] = []

  init(_ table: SteeringTable, _ events: SoundEvents, order: [Int]) {
    (self.table, self.events, self.order) = (table, events, order)
    let (F, D) = (table.frequencies.count, table.sources)
    var beams = SplitComplex(events.count * F * D)
    // What the table has of one frequency stays in the processor's cache for all events.
    for f in 0..<F {
      for e in 0..<events.count {
        table.addBeams(to: &beams.re, &beams.im, at: (e * F + f) * D, of: events, e, f, order)
      }
    }
    self.beams = beams
    (scores, sources) = best(SplitComplex(F * D), SplitComplex(events.count * F))
  }

  /// The same events under another order.
  func reordered(_ order: [Int]) -> SteeredPowers { SteeredPowers(table, events, order: order) }

  /// The same events with some channels inverted.
  func inverting(_ channels: [Int]) -> SteeredPowers {
    channels.reduce(self) { $0.changed(channel: $1, advance: 0, inverts: true) }
  }

  /// The same events with a channel multiplied by e^(jω·advance), and by -1 if `inverts`.
  func changed(channel: Int, advance: Double, inverts: Bool = false) -> SteeredPowers {
    SteeredPowers(table, events.changed(channel: channel, advance: advance, inverts: inverts), order: order)
  }

  /// Scores under another order, with no more beams at a time than fit into the processor's cache.
  func scores(order: [Int]) -> [Float] {
    let (F, D) = (table.frequencies.count, table.sources)
    let none = SplitComplex(F * D)
    var powers = [[Float]](repeating: [Float](repeating: 0, count: D), count: events.count)
    for f in 0..<F {
      for e in 0..<events.count {
        var beams = SplitComplex(D)
        table.addBeams(to: &beams.re, &beams.im, at: 0, of: events, e, f, order)
        beams.addPowers(to: &powers[e], from: 0, plus: none, times: (0, 0), weights: table.weights, at: f * D)
      }
    }
    return powers.map { $0.max()! }
  }

  /// Scores with the microphones of channels `i` and `j` exchanged.
  func scores(swapping i: Int, _ j: Int) -> [Float] {
    let (F, M, D) = (table.frequencies.count, table.microphones, table.sources)
    var (v, y) = (SplitComplex(F * D), SplitComplex(events.count * F))
    for f in 0..<F {
      let (a, b) = ((f * M + order[i]) * D, (f * M + order[j]) * D)
      for d in 0..<D {
        v.re[f * D + d] = table.re[b + d] - table.re[a + d]
        v.im[f * D + d] = table.im[b + d] - table.im[a + d]
      }
      for e in 0..<events.count {
        let (a, b) = (events.index(e, i) + f, events.index(e, j) + f)
        y.re[e * F + f] = events.re[a] - events.re[b]
        y.im[e * F + f] = events.im[a] - events.im[b]
      }
    }
    return best(v, y).scores
  }

  /// Scores with a channel changed as by `changed`.
  func scores(channel: Int, advance: Double, inverts: Bool = false) -> [Float] {
    let (F, M, D) = (table.frequencies.count, table.microphones, table.sources)
    var (v, y) = (SplitComplex(F * D), SplitComplex(events.count * F))
    for f in 0..<F {
      let from = (f * M + order[channel]) * D
      v.re.replaceSubrange(f * D..<(f + 1) * D, with: table.re[from..<from + D])
      v.im.replaceSubrange(f * D..<(f + 1) * D, with: table.im[from..<from + D])
      let (c, s) = events.turn(f, advance: advance, inverts: inverts)
      for e in 0..<events.count {
        let at = events.index(e, channel) + f
        y.re[e * F + f] = events.re[at] * (c - 1) - events.im[at] * s
        y.im[e * F + f] = events.re[at] * s + events.im[at] * (c - 1)
      }
    }
    return best(v, y).scores
  }

  /// Scores and best sources with conj(v)·y added to each beam. Shapes: v `[frequency][source]`, y `[event][frequency]`.
  private func best(_ v: SplitComplex, _ y: SplitComplex) -> (scores: [Float], sources: [Int]) {
    let (F, D) = (table.frequencies.count, table.sources)
    let best = (0..<events.count).map { e in
      var powers = [Float](repeating: 0, count: D)
      for f in 0..<F {
        let at = e * F + f
        beams.addPowers(
          to: &powers, from: at * D, plus: v, times: (y.re[at], y.im[at]), weights: table.weights, at: f * D)
      }
      let source = powers.indices.max { powers[$0] < powers[$1] }!
      return (score: powers[source], source: source)
    }
    return (best.map(\.score), best.map(\.source))
  }
}

/// Complex numbers, real and imaginary parts apart.
private struct SplitComplex {
  var re: [Float]
  var im: [Float]

  /// `count` zeros.
  init(_ count: Int) {
    re = [Float](repeating: 0, count: count)
    im = re
  }
}

// The loops check no index, so that the compiler vectorises them.

extension SteeringTable {
  /// Adds the beams of an event at a frequency towards all sources, under an order: conj(a)·x of each channel.
  /// - Parameter at: where the beams begin.
  fileprivate func addBeams(
    to beamRe: inout [Float], _ beamIm: inout [Float], at: Int, of events: SoundEvents, _ e: Int, _ f: Int,
    _ order: [Int]
  ) {
    precondition(at >= 0 && at + sources <= beamRe.count)
    var beamRe = beamRe.mutableSpan
    var beamIm = beamIm.mutableSpan
    for m in 0..<microphones {
      let from = (f * microphones + order[m]) * sources
      let re = re.span.extracting(from..<from + sources)
      let im = im.span.extracting(from..<from + sources)
      let (xRe, xIm) = (events.re[events.index(e, m) + f], events.im[events.index(e, m) + f])
      for d in 0..<sources {
        beamRe[unchecked: at &+ d] += re[unchecked: d] * xRe + im[unchecked: d] * xIm
        beamIm[unchecked: at &+ d] += re[unchecked: d] * xIm - im[unchecked: d] * xRe
      }
    }
  }
}

extension SplitComplex {
  /// Adds the weighted powers of these numbers from an index on, plus conj(v)·y.
  /// - Parameter at: where `v` and `weights` begin.
  fileprivate func addPowers(
    to powers: inout [Float], from: Int, plus v: SplitComplex, times y: (re: Float, im: Float),
    weights: [Float], at: Int
  ) {
    var powers = powers.mutableSpan
    let re = re.span.extracting(from..<from + powers.count)
    let im = im.span.extracting(from..<from + powers.count)
    let vRe = v.re.span.extracting(at..<at + powers.count)
    let vIm = v.im.span.extracting(at..<at + powers.count)
    let weights = weights.span.extracting(at..<at + powers.count)
    for d in re.indices {
      let a = re[unchecked: d] + (vRe[unchecked: d] * y.re + vIm[unchecked: d] * y.im)
      let b = im[unchecked: d] + (vRe[unchecked: d] * y.im - vIm[unchecked: d] * y.re)
      powers[unchecked: d] += (a * a + b * b) * weights[unchecked: d]
    }
  }
}
