import Acoustics
import FilterDesign
import Glibc
import HeadResponses
import Numerics

/// Computes the figures of several filter cases of one array from a common set of plane waves.
package struct FigureReader: Sendable {
  private let views: [CaseView]
  private let field: MeasuringField
  /// The target of stereo; nil without an HRTF.
  private let target: StereoTarget?
  /// Filter spectra of all cases, one row per output: `[frequency][row][microphone]`. Mono patterns have one output.
  private let rows: [Complex]
  private let rowCount: Int

  /// - Parameters:
  ///   - cases: the view of each case, and its filters.
  ///   - sampleRate: of the taps, in hertz.
  ///   - delayFrames: latency of the filters, which is removed.
  ///   - field: must have been made with the views of all cases.
  ///   - hrtf: target of stereo; required if any case is stereo.
  package init(
    _ cases: [(view: CaseView, taps: Taps<Float>)], sampleRate: Int, delayFrames: Int,
    field: MeasuringField, hrtf: HRTF?, step: DesignStep = .unobserved
  ) throws(DesignError) {
    self.field = field
    views = cases.map(\.view)
    let weights = try cases.enumerated().map { number, one throws(DesignError) in
      try step.reached(Double(number) / Double(cases.count))
      return FilterResponse(
        taps: one.taps.prefix(outputs: one.view.outputs), sampleRate: sampleRate, delayFrames: delayFrames,
        frequencies: field.frequencies
      ).weights
    }
    rows = field.frequencies.indices.flatMap { f in weights.flatMap { $0[f] } }
    rowCount = weights.reduce(0) { $0 + $1.outputs }
    target = hrtf.map { StereoTarget($0, frequencies: field.frequencies) }
  }

  /// The figures of each case, in order.
  /// - Parameter errors: gain and position errors of the microphones; nil for an array without errors.
  package func read(
    errors: ArrayErrors? = nil, step: DesignStep = .unobserved
  ) throws(DesignError) -> [CaseReading] {
    var patterns = views.map { PatternReading($0, field: field) }
    var ears = views.map { EarReading($0, field: field) }
    var harmonics = views.map { HarmonicReading($0, field: field) }
    let microphones = field.responses.channels
    try field.forEachFrequency(rows: rows, rowCount: rowCount, errors: errors, step: step) { f, outputs in
      var row = 0
      for i in views.indices {
        let first = (f * rowCount + row) * microphones
        let weights = rows[first..<first + views[i].outputs * microphones]
        let own = UnsafeBufferPointer(rebasing: outputs[(row * field.directions.count)...])
        patterns[i]?.add(own, weights: weights)
        ears[i]?.add(own, weights: weights, frequency: f)
        harmonics[i]?.add(own, weights: weights, frequency: f)
        row += views[i].outputs
      }
    }
    return views.indices.map { i in
      patterns[i].map { .mono(MonoFigures($0, frequencies: field.frequencies)) }
        ?? harmonics[i].map { .ambisonics(AmbisonicsFigures($0, frequencies: field.frequencies)) }
        ?? .stereo(StereoFigures(ears[i]!, target: target!, frequencies: field.frequencies))
    }
  }
}

/// The figures of one case.
package enum CaseReading: Sendable {
  case mono(MonoFigures)
  case stereo(StereoFigures)
  case ambisonics(AmbisonicsFigures)

  /// Nil for other patterns.
  package var ambisonics: AmbisonicsFigures? {
    if case .ambisonics(let figures) = self { figures } else { nil }
  }

  package var figures: Figures {
    switch self {
    case .mono(let figures): figures.table
    case .stereo(let figures): figures.table
    case .ambisonics: Figures()
    }
  }
}

extension CaseView {
  var outputs: Int {
    switch self {
    case .pattern: 1
    case .ears: 2
    case .ambisonics(let view): (view.order + 1) * (view.order + 1)
    }
  }
}
