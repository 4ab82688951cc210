import Acoustics
import Figures
import FoundationEssentials
import Glibc
import Plots
import Text

/// A report as one page of HTML: the device, where voices come out, and the plots of every case with a sentence of help
/// each. It has no script and loads nothing; its drawings follow the reader's choice of light or dark.
struct ReportPage {
  let measurement: Measurement
  let cases: [CasePlots]
  /// Nil for a report that is not on B-format.
  let ambisonics: AmbisonicPlots?
  /// Nil for a device that has no directional pattern.
  let voices: CheckPicture?
  /// Names of the files beside the page.
  let files: [String]

  var html: String {
    let device = measurement.device
    let title = "\(measurement.preset): \(device.title)"
    return Self.document(
      title,
      """
      \(introduction)
      \(contents)
      \(deviceSection)
      \(voicesSection)
      \(ambisonicsSection)
      \(cases.map(section).joined(separator: "\n"))
      \(figures)
      \(sheets)
      """)
  }

  /// A document with a title, which is its heading, too.
  static func document(_ title: String, _ body: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>\(title.escapedForHTML)</title>
    <style>\(style)</style>
    </head>
    <body>
    <h1>\(title.escapedForHTML)</h1>
    \(body)
    </body>
    </html>

    """
  }

  private var introduction: String {
    let first = measurement.report.cases.first
    let facts = [
      "\(measurement.bank.sampleRate) Hz", "\(first?.taps ?? 0) taps",
      "\(first?.delayFrames ?? 0) frames of delay",
      measurement.device.microphones.count == 1
        ? "1 microphone" : "\(measurement.device.microphones.count) microphones",
    ]
    let remarks = measurement.report.remarks.map { "The array was \($0)." }
    return HTML.paragraph(facts.joined(separator: " · ")) + remarks.map { HTML.paragraph($0) }.joined()
  }

  private var contents: String {
    let links = cases.map { "<a href=\"#\($0.name.escapedForHTML)\">\($0.heading.escapedForHTML)</a>" }
    return "<nav>\(links.joined(separator: " "))</nav>"
  }

  private var deviceSection: String {
    let plot = PositionPlot(measurement.device)
    let views = plot.separateViews.map {
      "<div>\($0.markup(description: plot.title.title))</div>"
    }
    return """
      <section id="device"><h2>The device</h2>
      <div class="row">\(views.joined())</div>
      \(HTML.help(plot.title.subtitle + " An array hears left and right apart only as far as its microphones are apart."))
      </section>
      """
  }

  private var voicesSection: String {
    guard let voices else { return "" }
    let panels = zip(voices.plot.separatePanels, voices.descriptions).map {
      "<div>\($0.markup(description: $1))</div>"
    }
    let marks = voices.plot.legend.map {
      "<span>\($0.markup(description: ""))\($0.text.escapedForHTML)</span>"
    }
    return """
      <section id="voices"><h2>Where voices come out</h2>
      <p class="legend">\(marks.joined())</p>
      <div class="row">\(panels.joined())</div>
      \(HTML.help("The listener from above, nose forward; at the left the device, as the listener has it. A voice is right where the filled mark is in its ring, or near it on the same side; larger marks are louder. A voice behind is drawn behind, since both ears tell only how far to the side it is."))
      </section>
      """
  }

  private var ambisonicsSection: String {
    guard let ambisonics else { return "" }
    let rows = ambisonics.rows.map { row in
      Self.figure(
        row.title.title, row.legend,
        row.separatePanels.map { ($0, "\(row.title.title), \($0.panels[0].title)") },
        row.title.subtitle, isSmall: true)
    }
    let silent =
      ambisonics.silent.isEmpty
      ? "" : HTML.paragraph("Silence: \(ambisonics.silent.joined(separator: ", ")).")
    return """
      <section id="b-format"><h2>B-format</h2>
      \(HTML.help(AmbisonicPlots.help))
      \(silent)
      \(rows.joined(separator: "\n"))
      </section>
      """
  }

  private func section(_ one: CasePlots) -> String {
    let weakness = measurement.report.cases.first { $0.filterCase.name == one.heading }?.weakness
    let polar =
      one.isEquallyLoudAllRound
      ? HTML.paragraph("Sound from all directions is equally loud, to half a decibel in every octave.")
      : Self.figure(
        "Level over azimuth", one.polar.legend,
        one.polar.separatePanels.map { ($0, "\(one.heading), \($0.panels[0].title)") },
        one.isStereo
          ? "How loud sound from each direction is, per octave: forward is up, the rings are dB. The dashed curves are the listener's own ears, which the outputs should follow: the left ear louder for sound from the left."
          : "How loud sound from each direction is, per octave: forward is up, the rings are dB. The grey dashed curve is the ideal pattern.",
        isSmall: true)
    let response = Self.figure(
      "Response straight ahead", one.onAxis.legend, [(one.onAxis.narrow, "\(one.heading): response")],
      one.isStereo
        ? "How a voice straight ahead sounds. Below: both outputs together against the listener's ears, in third octaves; dips below −2 dB, the lower dashed line, are heard as a hollow or dull voice."
        : "A flat curve sounds neutral. Steep dips are heard as a hollow or dull voice.")
    let others =
      one.isStereo
      ? Self.figure(
        "Where voices are heard", one.heard.legend, [(one.heard.narrow, "\(one.heading): heard angles")],
        "Where a voice from each direction is heard, and below it why: positive is to the left, left louder, or left earlier. Solid is the output, dashed beside it the listener's own ears. Where a solid curve jumps, a voice that walks past jumps, too."
      ) + response
        + Self.figure(
          "Sound from all around", one.diffuse.legend,
          [(one.diffuse.narrow, "\(one.heading): diffuse sound")],
          "Level and coherence of diffuse sound, such as a room's: where the outputs are more alike than the listener's ears (dashed), the room sounds narrower. Below: how much the filters amplify the microphones' own noise; under the dashed limit it stays inaudible in most rooms."
        )
      : response
        + Self.figure(
          "Noise", one.noise.legend, [(one.noise.narrow, "\(one.heading): noise")],
          "How far sound from the front stands above the microphones' own noise, compared with one microphone: above 0 dB the pattern is less noisy, below the dashed floor it hisses."
        )
    return """
      <details\(one.isStereo ? " open" : "")><summary><h2>\(one.heading.escapedForHTML)</h2></summary>
      <section id="\(one.name.escapedForHTML)">
      \(weakness.map { HTML.paragraph("Weak: \($0).") } ?? "")
      \(polar)
      <div class="row">\(others)</div>
      </section></details>
      """
  }

  /// A figure with its legend and a sentence of help.
  static func figure(
    _ title: String, _ legend: [Curve], _ plots: [(plot: any Plot, description: String)], _ help: String,
    isSmall: Bool = false
  ) -> String {
    let entries = legend.map {
      "<span><i style=\"border-color:var(--\($0.colour.name));border-style:\($0.isDashed ? "dashed" : "solid")\"></i>\($0.label.escapedForHTML)</span>"
    }
    let drawings = plots.map { "<div>\($0.plot.markup(description: $0.description))</div>" }
    return """
      <figure class="\(isSmall ? "small" : "single")"><h3>\(title.escapedForHTML)</h3>
      <p class="legend">\(entries.joined())</p>
      <div class="row">\(drawings.joined())</div>
      <figcaption>\(help.escapedForHTML)</figcaption></figure>
      """
  }

  /// The table that `report` prints.
  private var figures: String {
    let table = ReportTable(
      measurement.report, draws: measurement.draws, isCalibrated: measurement.isCalibrated
    ).text
    return
      "<section id=\"figures\"><h2>Figures</h2><pre>\(table.escapedForHTML)</pre>"
      + HTML.help("What pinna report prints. Levels are in dB; the documentation explains each figure.")
      + "</section>"
  }

  private var sheets: String {
    let links = files.map { "<li><a href=\"\(HTML.link($0))\">\($0.escapedForHTML)</a></li>" }
    return
      "<section id=\"sheets\"><h2>Sheets</h2><p>The same plots as files:</p><ul>\(links.joined())</ul></section>"
  }

  private static let style = """
    :root{\(PlotColour.variables(isDark: false))}
    @media (prefers-color-scheme:dark){:root{\(PlotColour.variables(isDark: true))}}
    body{margin:0 auto;padding:12px;max-width:1360px;background:var(--white);color:var(--black);\
    font:16px/1.45 system-ui,sans-serif}
    h1{font-size:1.5rem}h2{margin:2rem 0 .5rem;border-top:1px solid var(--light-grey);padding-top:1rem;font-size:1.25rem}
    h3{margin:.8rem 0 0;font-size:1rem}
    a{color:var(--blue)}nav{display:flex;flex-wrap:wrap;gap:.4rem 1rem}
    figure{margin:0}
    .row{display:flex;flex-wrap:wrap;gap:4px 12px}.row>div{flex:0 1 auto;max-width:100%}
    .row>figure{flex:1 1 340px;max-width:440px}
    #voices .row{display:grid;grid-template-columns:repeat(auto-fill,minmax(270px,1fr))}
    .small .row{display:grid;grid-template-columns:repeat(auto-fill,minmax(148px,1fr));gap:4px}
    summary{margin:1rem 0 .5rem;border-top:1px solid var(--light-grey);padding-top:.6rem;cursor:pointer}
    summary h2{display:inline;margin:0;border:0;padding:0}
    svg{max-width:100%;height:auto;display:block;font-family:"DejaVu Sans",Verdana,sans-serif}
    .legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:.3rem 0;font-size:.85rem}
    .legend span{display:inline-flex;align-items:center;gap:.4rem}
    .legend i{width:22px;border-width:2.5px 0 0}.legend svg{width:24px}
    figcaption,.help{max-width:70ch;margin:.3rem 0 .8rem;font-size:.9rem;color:var(--grey)}
    pre{overflow-x:auto;font-size:.8rem}
    """
}

/// Pieces of HTML.
private enum HTML {
  static func paragraph(_ text: String) -> String { "<p>\(text.escapedForHTML)</p>" }
  static func help(_ text: String) -> String { "<p class=\"help\">\(text.escapedForHTML)</p>" }

  /// A file's name as a link.
  static func link(_ file: String) -> String {
    file.utf8.map { byte in
      let character = Character(Unicode.Scalar(byte))
      return character.isASCII
        && (character.isLetter || character.isNumber || "!$&'()*+,-./:=@_~".contains(character))
        ? String(character) : String(format: "%%%02X", UInt32(byte))
    }.joined().escapedForHTML
  }
}
