import Acoustics
import Figures
import Text

/// A report as a text table: one row per stereo case, one block per mono pattern.
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
    lines += mono(offered.filter { $0.filterCase.polarPattern != .stereo })
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
    return lines.joined(separator: "\n")
  }

  // MARK: Stereo

  private static let stereoFigures: [(head: String, figure: Figure, format: String)] = [
    ("left/right", .separation, "%.1f"), ("front/back", .frontBack, "%.1f"),
    ("sides at °", .heardAtSides, "%.0f"), ("front at °", .heardInFront, "%.0f"),
    ("ILD high", .levelDifferenceErrorHigh, "%.1f"), ("ILD low", .levelDifferenceErrorLow, "%.1f"),
    ("ITD µs", .timeDifferenceError, "%.0f"), ("noise gain", .noiseGain, "%.1f"),
  ]

  private func stereo(_ cases: [CaseFigures]) -> [String] {
    guard !cases.isEmpty else { return [] }
    let heads = Self.stereoFigures.map(\.head) + ["octaves"]
    var lines = [
      "",
      "Stereo, dB: left over right at ±90°; front over back; where voices at ±90° and in front are heard; errors against",
      "the target of the level difference (1.5–12 kHz; 150–1500 Hz), the time difference and the octaves (worst of 250 Hz",
      "to 2 kHz); highest noise gain. Below: errors of tone and of interaural coherence against the target.",
      "",
    ]
    var rows = [["Stereo"] + heads.map(Self.head)]
    for one in cases {
      let cells = Self.stereoFigures.map { column in
        Self.cell(one.figures[column.figure], one.losses?[column.figure]?.mean, column.format)
      }
      let octaves = one.figures[.octaveError]?.filter { $0.key <= 2000 } ?? [:]
      let worst = octaves.max { $0.value < $1.value }
      let loss = worst.flatMap { one.losses?[.octaveError]?[$0.key]?.mean }
      rows.append([Self.name(one.filterCase)] + cells + [Self.cell(worst?.value, loss, "%.1f")])
    }
    lines += Self.lines(rows)
    let centres = OctaveFigure.centres.filter { $0 <= 8000 }
    rows = [["Tone, by octave in Hz"] + centres.map { Self.head(Self.short($0)) }]
    for one in cases {
      rows.append([Self.name(one.filterCase)])
      for row in Self.toneFigures {
        guard let values = one.figures[row.figure], !values.isEmpty else { continue }
        rows.append(["  \(row.head)"] + centres.map { Self.cell(values[$0], nil, row.format) })
      }
    }
    return lines + [""] + Self.lines(rows)
  }

  private static let toneFigures: [(head: String, figure: OctaveFigure, format: String)] = [
    ("diffuse field dB", .diffuseError, "%.1f"), ("straight ahead dB", .frontError, "%.1f"),
    ("coherence", .coherenceError, "%.2f"),
  ]

  private static func short(_ frequency: Int) -> String {
    frequency < 1000 ? "\(frequency)" : "\(frequency / 1000)k"
  }

  // MARK: Mono

  private static let monoFigures: [(head: String, figure: OctaveFigure)] = [
    ("directivity index dB", .directivityIndex), ("front over back dB", .frontBackOctaves),
    ("on axis dB", .onAxis), ("white-noise gain dB", .whiteNoiseGain), ("pattern error dB", .patternError),
  ]

  private func mono(_ cases: [CaseFigures]) -> [String] {
    guard !cases.isEmpty else { return [] }
    let centres = OctaveFigure.centres
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

  // MARK: Cells

  private static func lines(_ rows: [[String]]) -> [String] { Columns.lines(rows, first: 27, others: 13) }

  private static func head(_ text: String) -> String { text.leftPadded(text.count > 5 ? 10 : 5) }

  private static func name(_ filterCase: FilterCase) -> String {
    "\(filterCase.dataSource), \(filterCase.inputOrientation?.rawValue ?? filterCase.polarPattern.rawValue)"
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
