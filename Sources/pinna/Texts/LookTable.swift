import Acoustics
import Figures
import Text

/// Directivity over all looks as a table: a row for each look.
struct LookTable {
  let figures: LookFigures
  let name: String
  let sampleRate: Int

  var text: String {
    var lines = [
      "\(name) at \(sampleRate) Hz: \(figures.dataSource), \(figures.polarPattern.phrase), by look. Left and up are positive; an ideal pattern",
      String(
        format: "has a directivity index of %.1f dB. On axis, 0 dB is one microphone in the free field.",
        figures.idealDirectivityIndexDB),
      "",
      "".padded(12) + "directivity index in dB".padded(6 * LookFigures.octaves.count + 2) + "on axis in dB",
    ]
    let heads = LookFigures.octaves.map { ($0 < 1000 ? "\($0)" : "\($0 / 1000)k").leftPadded(6) }.joined()
    lines.append("look".padded(12) + heads + "  " + heads)
    for row in figures.rows {
      func cells(_ values: [Int: Double]) -> String {
        LookFigures.octaves.map { (values[$0].map(Self.cell) ?? "–").leftPadded(6) }.joined()
      }
      lines.append(
        Self.name(row.look).padded(12)
          + (row.reason == nil
            ? cells(row.directivityIndexDB) + "  " + cells(row.onAxisDB) : "   not offered"))
    }
    return (lines + remarks("Not offered", \.reason) + remarks("Weak", \.weakness)).joined(separator: "\n")
  }

  /// The same remark about several looks once.
  private func remarks(_ title: String, _ remark: (LookFigures.Row) -> String?) -> [String] {
    var texts: [(text: String, looks: [String])] = []
    for row in figures.rows {
      guard let text = remark(row) else { continue }
      if let known = texts.firstIndex(where: { $0.text == text }) {
        texts[known].looks.append(Self.name(row.look))
      } else {
        texts.append((text, [Self.name(row.look)]))
      }
    }
    guard !texts.isEmpty else { return [] }
    return ["", "\(title):"]
      + texts.map {
        "  \($0.looks.count == figures.rows.count ? "at all looks" : $0.looks.joined(separator: " ")): \($0.text)"
      }
  }

  /// "60°", or "60°,30°"
  private static func name(_ look: Look) -> String {
    String(format: "%g°", look.azimuth) + (look.elevation == 0 ? "" : String(format: ",%g°", look.elevation))
  }

  private static func cell(_ value: Double) -> String {
    let text = String(format: "%.1f", value)
    return text == "-0.0" ? "0.0" : text
  }
}
