import ArrayCheck
import Messages

/// What `pinna array` prints.
enum ArrayCheckText {
  /// One line per microphone, then the array's verdict.
  static func table(_ verdict: ArrayVerdict) -> String {
    let rows = verdict.microphones.map { microphone in
      [
        microphone.name, microphone.level.map { "\(tenths($0)) dBFS" } ?? "silent",
        microphone.deviation.map { "\(signed($0)) dB" } ?? "", microphone.verdict,
      ]
    }
    var lines = Columns.lines([["microphone", "level", "against median", "verdict"]] + rows, gap: 2)
    lines.append("")
    if !verdict.channels.isEmpty { lines.append("Channels: \(list(verdict.channels)).") }
    for finding in verdict.findings { lines.append("\(capitalised(finding.sentence)): \(finding.remedy).") }
    if let order = verdict.order {
      let names = verdict.device.microphones.map(\.name)
      var line = "Order: \(order.events) sounds fit the geometry to \(tenths(100 * order.fit)) %"
      if order.givenIsWorse > 0 { line += "; as connected, \(tenths(order.givenIsWorse)) % worse" }
      if let second = order.second {
        let moved = second.order.indices.filter { second.order[$0] != order.order[$0] }
        let others =
          moved.count > 3
          ? "\(moved.count) microphones" : moved.map { names[order.order[$0]] }.joined(separator: ", ")
        line += "; the next best order (\(others) exchanged) is \(tenths(second.isWorse)) % worse"
      }
      lines.append(line + ".")
    }
    for note in verdict.notJudged { lines.append("\(note).") }
    let count = verdict.findings.count
    lines.append(
      verdict.isWell
        ? "\(verdict.device.name) is well."
        : count > 0
          ? "\(verdict.device.name) has \(count) problem\(count == 1 ? "" : "s")."
          : "Nothing wrong was found, but too little could be judged.")
    return lines.joined(separator: "\n")
  }

  /// "1 front, 2 back, 3 spare (silent), 4 spare (-32.1 dBFS)"
  private static func list(_ channels: [ProductChannel]) -> String {
    channels.enumerated().map { n, channel in
      "\(n + 1) "
        + (channel.microphone ?? "spare (\(channel.level.map { "\(tenths($0)) dBFS" } ?? "silent"))")
    }.joined(separator: ", ")
  }

  static func json(_ verdict: ArrayVerdict) -> JSONObject {
    let names = verdict.device.microphones.map(\.name)
    return [
      "device": verdict.device.name,
      "well": verdict.findings.isEmpty && !verdict.isJudged ? nil : verdict.isWell,
      "microphones": verdict.microphones.map { microphone -> JSONObject in
        [
          "name": microphone.name, "level": microphone.level, "deviation": microphone.deviation,
          "verdict": microphone.verdict, "remedy": microphone.remedy,
        ]
      },
      "channels": verdict.channels.enumerated().map { n, channel -> JSONObject in
        ["channel": n + 1, "microphone": channel.microphone, "level": channel.level]
      },
      "findings": verdict.findings.map { finding -> JSONObject in
        [
          "kind": finding.kind.rawValue, "microphones": finding.microphones.map { names[$0] },
          "oneOf": finding.isOneOf, "size": finding.size, "sentence": finding.sentence,
          "remedy": finding.remedy,
        ]
      },
      "notJudged": verdict.notJudged,
      "order": verdict.order.map { order -> JSONObject in
        [
          "events": order.events, "fit": order.fit, "microphones": order.order.map { names[$0] },
          "givenIsWorse": order.givenIsWorse, "nextIsWorse": order.second?.isWorse,
          "next": order.second.map { $0.order.map { names[$0] } },
        ]
      },
    ]
  }

  /// One line per microphone that was tapped on, then the array's verdict.
  static func table(_ verdict: TapVerdict) -> String {
    let rows = verdict.microphones.map { microphone in
      [
        microphone.name, microphone.answeredOn ?? "",
        microphone.margin.map { "\(signed($0)) dB" } ?? "", microphone.verdict,
      ]
    }
    var lines = Columns.lines([["microphone", "answered on", "above the others", "verdict"]] + rows, gap: 2)
    lines.append("")
    for finding in verdict.findings { lines.append("\(finding.sentence): \(finding.remedy).") }
    let count = verdict.findings.count
    lines.append(
      verdict.isWell
        ? "\(verdict.device.name) is in order."
        : "\(verdict.device.name) has \(count) problem\(count == 1 ? "" : "s").")
    return lines.joined(separator: "\n")
  }

  static func json(_ verdict: TapVerdict) -> JSONObject {
    [
      "device": verdict.device.name, "well": verdict.isWell,
      "microphones": verdict.microphones.map { microphone -> JSONObject in
        [
          "name": microphone.name, "answeredOn": microphone.answeredOn, "margin": microphone.margin,
          "verdict": microphone.verdict,
        ]
      },
      "findings": verdict.findings.map { finding -> JSONObject in
        ["sentence": finding.sentence, "remedy": finding.remedy]
      },
    ]
  }

  /// What a calibration would write.
  static func table(_ measured: ArrayCalibration) -> String {
    let rows = measured.microphones.map { microphone in
      [
        microphone.name,
        "\(signed(microphone.deviation.gain.value, digits: 2)) ±\(hundredths(microphone.gainError)) dB",
        "\(signed(microphone.delay.value * 1e6)) ±\(tenths(microphone.delay.error * 1e6)) µs"
          + (microphone.deviation.delay == 0 ? " (not kept)" : ""),
        microphone.deviation.isInverted ? "inverted" : "",
      ]
    }
    let spread = measured.spread
    return
      (Columns.lines([["microphone", "gain", "delay", "polarity"]] + rows, gap: 2) + [
        "",
        "Gains differ by \(hundredths(spread.before)) dB RMS, and by \(hundredths(spread.after)) dB when calibrated: half "
          + "of the recording undone in the other half.",
      ]).joined(separator: "\n")
  }

  static func json(_ measured: ArrayCalibration) -> JSONObject {
    [
      "device": measured.device.name, "date": measured.calibration.date,
      "method": measured.calibration.method, "source": measured.calibration.source?.rawValue,
      "unevenness": measured.unevenness,
      "spread": ["before": measured.spread.before, "after": measured.spread.after] as JSONObject,
      "microphones": measured.microphones.map { microphone -> JSONObject in
        [
          "name": microphone.name, "gain": microphone.deviation.gain.value, "gainError": microphone.gainError,
          "delay": microphone.deviation.delay * 1e6, "measuredDelay": microphone.delay.value * 1e6,
          "delayError": microphone.delay.error * 1e6,
          "polarity": microphone.deviation.isInverted ? "inverted" : "normal",
          "curve": microphone.curve.map { ["frequency": $0.frequency, "gain": $0.gain] as JSONObject },
        ]
      },
    ]
  }

  private static func capitalised(_ sentence: String) -> String {
    // A microphone's name stays as it is.
    sentence.hasPrefix("one of ") || sentence.hasPrefix("the ")
      ? sentence.prefix(1).uppercased() + sentence.dropFirst() : sentence
  }

  private static func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10 + 0)" }
  private static func hundredths(_ value: Double) -> String { "\((value * 100).rounded() / 100 + 0)" }
}
