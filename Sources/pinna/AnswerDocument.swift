import Foundation

/// A JSON answer of a running Pinna, put into words for people.
struct AnswerDocument {
  private let object: [String: Any]

  init(_ json: String) {
    object = ((try? JSONSerialization.jsonObject(with: Data(json.utf8))) as? [String: Any]) ?? [:]
  }

  private init(_ object: [String: Any]) { self.object = object }

  func string(_ key: String) -> String { object[key] as? String ?? "" }
  func integer(_ key: String) -> Int { (object[key] as? NSNumber)?.intValue ?? 0 }
  func number(_ key: String) -> Double { (object[key] as? NSNumber)?.doubleValue ?? 0 }
  func boolean(_ key: String) -> Bool { (object[key] as? NSNumber)?.boolValue ?? false }
  func strings(_ key: String) -> [String] { object[key] as? [String] ?? [] }
  func child(_ key: String) -> AnswerDocument? { (object[key] as? [String: Any]).map(AnswerDocument.init) }
  func children(_ key: String) -> [AnswerDocument] {
    (object[key] as? [[String: Any]] ?? []).map(AnswerDocument.init)
  }

  /// One line: what is selected now and where left and right are.
  var changeText: String {
    var text = "\(string("preset")): \(string("dataSource")), \(string("polarPattern"))"
    if let layout = child("layout") {
      text +=
        ", \(string("inputOrientation")); left is the \(layout.string("left")) edge, "
        + "right the \(layout.string("right")) edge"
    }
    if number("gainDB") != 0 { text += String(format: ", %+g dB", number("gainDB")) }
    if boolean("muted") { text += ", muted" }
    return text
  }

  var statusText: String {
    var lines = [
      "\(string("state") == "recording" ? "recording" : "not recording"); \(changeText)",
      "\(integer("microphones")) microphones at \(integer("sampleRate")) Hz, period \(integer("period")), "
        + "latency \(integer("latencyFrames")) frames, \(integer("xruns")) xruns, "
        + String(format: "load %.1f %%", number("dspLoad")),
    ]
    switch string("server") {
    case "gone": lines.append("the JACK server has gone; Pinna goes on when it is back")
    case "joining": lines.append("the JACK server is back; filters for its sample rate are being designed")
    case "unusable": lines.append("the JACK server is back, but Pinna cannot use it as it is")
    default: break
    }
    let levels = child("levels")
    for level in (levels?.children("microphones") ?? []) + (levels?.children("outputs") ?? []) {
      lines.append(
        "  " + level.string("name").padded(16)
          + String(format: "%7.1f dB rms %7.1f dB peak", level.number("rmsDB"), level.number("peakDB")))
    }
    lines += strings("warnings").map { "warning: " + $0 }
    if let take = child("take") {
      lines.append("take: \(take.string("path")), \(take.integer("frames")) frames")
    }
    return lines.joined(separator: "\n")
  }

  var inputsText: String {
    children("inputs").flatMap { input in
      ["\(input.string("name")) (\(input.string("portType")), \(input.string("uid")))"]
        + input.children("dataSources").flatMap { source in
          let mark = source.boolean("selected") ? "* " : "  "
          let selected = source.string("selectedPolarPattern")
          let patterns = source.strings("supportedPolarPatterns").map { $0 == selected ? "[\($0)]" : $0 }
          let offered = mark + source.string("name").padded(8) + " " + patterns.joined(separator: ", ")
          let refused = source.children("notOffered").map { refusal in
            let orientation = refusal.string("inputOrientation")
            return
              "    no \(refusal.string("polarPattern"))\(orientation.isEmpty ? "" : " in ")\(orientation): "
              + refusal.string("reason")
          }
          return [offered] + refused
        }
    }.joined(separator: "\n")
  }
}
