import Acoustics
import Figures
import Text

/// A report as a text table: one row per stereo case, one block per mono pattern, one row per channel of B-format.
package struct ReportTable {
  private let report: Report
  /// Draws of the microphones' errors, and their greatest gain error.
  private let draws: Int
  private let isCalibrated: Bool

  package init(_ report: Report, draws: Int = ArrayErrors.drawCount, isCalibrated: Bool = false) {
    self.report = report
    self.draws = draws
    self.isCalibrated = isCalibrated
  }

  package var text: String {
    let first = report.cases.first
    var lines = [
      "\(report.preset) at \(report.sampleRate) Hz: \(first?.taps ?? 0) taps, \(first?.delayFrames ?? 0) frames of delay"
    ]
    if draws > 0 {
      lines.append(
        "In brackets: loss through microphone errors of up to \(isCalibrated ? "0.2" : "1") dB and 1 mm, mean of \(draws) draws."
      )
    }
    lines += report.remarks.map { "The array was \($0)." }
    if let geometry = report.geometry { lines.append("The array: \(geometry).") }
    let offered = report.cases.filter(\.supported)
    lines += stereo(offered.filter { $0.filterCase.polarPattern == .stereo })
    lines += mono(offered.filter { !$0.filterCase.polarPattern.isOriented })
    lines += offered.flatMap(ambisonics)
    let refused = report.cases.filter { !$0.supported }
    if !refused.isEmpty {
      lines += ["", "Not offered:"]
      lines += refused.map { "  \($0.filterCase.name): \($0.reason ?? "")" }
    }
    let weak = report.cases.filter { $0.weakness != nil }
    if !weak.isEmpty {
      lines += ["", "Weak:"]
      lines += weak.map { "  \($0.filterCase.name): \($0.weakness ?? "")" }
    }
    if let feeds = report.feeds { lines += [""] + feeds }
    return lines.joined(separator: "\n")
  }

  // MARK: Stereo

  private static let stereoFigures: [(head: String, figure: Figure, format: String)] = [
    ("left/right", .separation, "%.1f"), ("front/back", .frontBack, "%.1f"),
    ("sides at °", .heardAtSides, "%.0f"), ("back at °", .heardBehind, "%.0f"),
    ("ITD µs", .timeDifferenceError, "%.0f"), ("ITD jump", .timeDifferenceJump, "%.0f"),
    ("ILD high", .levelDifferenceErrorHigh, "%.1f"), ("noise gain", .noiseGain, "%.1f"),
  ]

  private func stereo(_ cases: [CaseFigures]) -> [String] {
    guard !cases.isEmpty else { return [] }
    var lines = [
      "",
      "Stereo, dB: left over right at ±90°; front over back; where voices at ±90° are heard, and at most how far off the",
      "middle those from 165° to 195°; time difference: error against a listener's, largest jump within 5°; error of the",
      "level difference (1.5–12 kHz); highest noise gain; deepest dip straight ahead, by third octave. Below: where voices",
      "are heard, once around to the left; errors of tone and of interaural coherence in a diffuse field.",
      "",
    ]
    var rows = [["Stereo"] + (Self.stereoFigures.map(\.head) + ["front dip"]).map(Self.head)]
    for one in cases {
      let cells = Self.stereoFigures.map { column in
        Self.cell(one.figures[column.figure], one.losses?[column.figure]?.mean, column.format)
      }
      let dip = one.figures[.frontError]?.min { ($0.value, $0.key) < ($1.value, $1.key) }
      let place = dip.map { " at \(Self.short($0.key))" } ?? ""
      rows.append([Self.name(one.filterCase)] + cells + [Self.cell(dip?.value, nil, "%.1f") + place])
    }
    lines += Self.lines(rows) + [""] + heard(cases)
    let centres = SeriesFigure.octaves.filter { $0 <= 8000 }
    rows = [["Diffuse, by octave in Hz"] + centres.map { Self.head(Self.short($0)) }]
    for one in cases {
      rows.append([Self.name(one.filterCase)])
      for row in Self.diffuseFigures {
        guard let values = one.figures[row.figure], !values.isEmpty else { continue }
        rows.append(["  \(row.head)"] + centres.map { Self.cell(values[$0], nil, row.format) })
      }
    }
    return lines + [""] + Self.lines(rows)
  }

  /// Once around the listener, counter-clockwise; closer behind, where designs are worst.
  private func heard(_ cases: [CaseFigures]) -> [String] {
    let azimuths = [0, 30, 60, 90, 120, 150, 165, 180, -165, -150, -120, -90, -60, -30]
    func row(_ name: String, _ angles: [Int: Double]?) -> [String] {
      [name] + azimuths.map { Self.cell(angles?[$0], nil, "%.0f") }
    }
    let rows =
      [["Heard at °, voice from"] + azimuths.map { "\($0)".leftPadded(5) }]
      + [row("a listener's own ears", cases.lazy.compactMap { $0.figures[.targetHeard] }.first)]
      + cases.map { row(Self.name($0.filterCase), $0.figures[.heard]) }
    return Columns.lines(rows, first: 27, others: 6)
  }

  private static let diffuseFigures: [(head: String, figure: SeriesFigure, format: String)] = [
    ("tone dB", .diffuseError, "%.1f"), ("coherence", .coherenceError, "%.2f"),
  ]

  private static func short(_ frequency: Int) -> String {
    frequency < 1000 ? "\(frequency)" : String(format: "%gk", Double(frequency) / 1000)
  }

  // MARK: Mono

  private static let monoFigures: [(head: String, figure: SeriesFigure)] = [
    ("directivity index dB", .directivityIndex), ("front over back dB", .frontBackOctaves),
    ("on axis dB", .onAxis), ("white-noise gain dB", .whiteNoiseGain), ("pattern error dB", .patternError),
  ]

  private func mono(_ cases: [CaseFigures]) -> [String] {
    guard !cases.isEmpty else { return [] }
    let centres = SeriesFigure.octaves
    var rows = [["Mono, by octave in Hz"] + centres.map { Self.head(Self.short($0)) }]
    for one in cases {
      let aliasing = one.figures[.aliasingFrequency].map {
        String(format: ", aliased above %.1f kHz", $0 / 1000)
      }
      rows.append([Self.name(one.filterCase) + (aliasing ?? "")])
      for row in Self.monoFigures {
        guard let values = one.figures[row.figure], !values.isEmpty else { continue }
        let losses = one.losses?[row.figure] ?? [:]
        rows.append(["  \(row.head)"] + centres.map { Self.cell(values[$0], losses[$0]?.mean, "%.1f") })
      }
    }
    return [""] + Self.lines(rows)
  }

  // MARK: B-format

  private func ambisonics(_ one: CaseFigures) -> [String] {
    guard let figures = one.ambisonics else { return [] }
    let centres = SeriesFigure.octaves.filter { figures.orders[0].correlation[$0] != nil }
    let origin = figures.originMM.map { String(format: "%g", $0) }.joined(separator: ", ")
    var lines = [
      "",
      "B-format (AmbiX) as heard at (\(origin)) mm, by octave in Hz: correlation of each channel with its spherical",
      "harmonic, and level in dB in a diffuse field; highest noise in dB. Below \(CaseCriteria.leastCorrelation) a channel's directions are wrong,",
      "though its level may be right.",
      "",
    ]
    var rows = [[Self.name(one.filterCase)] + centres.map { Self.head(Self.short($0)) } + ["noise"]]
    for channel in figures.channels {
      rows.append(
        ["  \(channel.name)"]
          + (channel.isSilent
            ? ["silence"]
            : centres.map {
              Self.cell(channel.correlation[$0], nil, "%.2f")
                + Self.cell(channel.levelDB[$0], nil, "%.1f").leftPadded(6)
            } + [Self.cell(channel.noiseDB, nil, "%.1f")]))
    }
    lines += Self.lines(rows)
    lines += figures.orders.map { order in
      guard let from = order.fromHz, let to = order.toHz else {
        return "Order \(order.order) is like its harmonics in no octave."
      }
      let softer =
        order.atLevelFromHz.map { $0 > from ? ", softer than they below \($0) Hz" : "" } ?? ", but softer"
      return "Order \(order.order) is like its harmonics in the octaves from \(from) to \(to) Hz\(softer)."
    }
    return lines
  }

  // MARK: Cells

  private static func lines(_ rows: [[String]]) -> [String] { Columns.lines(rows, first: 27, others: 13) }

  private static func head(_ text: String) -> String { text.leftPadded(text.count > 5 ? 10 : 5) }

  private static func name(_ filterCase: FilterCase) -> String {
    "\(filterCase.dataSource), \(filterCase.inputOrientation?.rawValue ?? filterCase.polarPattern.rawValue)"
      + (filterCase.look?.phrase ?? "")
  }

  /// Such as "  7.9 (0.3)". The loss is omitted if it rounds to zero. A missing figure is a dash.
  private static func cell(_ value: Double?, _ loss: Double?, _ format: String) -> String {
    guard let value else { return "–".leftPadded(5) }
    let lossText = loss.map { number($0, format) } ?? ""
    let text = number(value, format).leftPadded(5)
    return lossText.contains { ("1"..."9").contains($0) } ? text + " (\(lossText))" : text
  }

  private static func number(_ value: Double, _ format: String) -> String {
    let text = String(format: format, value)
    return text.contains { ("1"..."9").contains($0) } ? text : text.replacing("-", with: "")
  }
}

extension String {
  func leftPadded(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
