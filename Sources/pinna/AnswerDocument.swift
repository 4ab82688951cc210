import Acoustics
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
    let kept = string("kept")
    return kept.isEmpty ? text : "\(kept)\n\(text)"
  }

  var statusText: String {
    var lines = [
      "\(string("state") == "stopped" ? "not recording" : string("state")); \(changeText)",
      "\(integer("microphones")) microphone\(integer("microphones") == 1 ? "" : "s") at \(integer("sampleRate")) Hz, period \(integer("period")), "
        + "latency \(integer("latencyFrames")) frames, \(integer("xruns")) xruns, "
        + String(format: "load %.1f %%", number("dspLoad")),
    ]
    switch string("server") {
    case "gone": lines.append("the JACK server has gone; Pinna goes on when it is back")
    case "joining": lines.append("the JACK server is back; filters for its sample rate are being designed")
    case "stalled":
      lines.append("the JACK server runs no periods: nothing is heard or recorded until it does")
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
    if let playback = child("playback") {
      lines.append(
        "playing \(playback.string("playing")): \(playback.integer("framesPlayed")) of "
          + "\(playback.integer("frames")) frames")
    }
    if let take = child("take") {
      lines.append("take: \(take.string("path")), \(take.integer("frames")) frames")
    }
    for path in strings("closingTakes") { lines.append("being written: \(path)") }
    if let change = child("change") {
      lines.append(
        "on its way: \(change.string("device")), "
          + String(format: "%.0f %%", 100 * change.number("progress")))
    }
    let controller = string("controller")
    if !controller.isEmpty { lines.append("the session \(controller) controls the route") }
    return (lines + routeLines).joined(separator: "\n")
  }

  /// The device as it is held, with left and right at their edges.
  var picture: String {
    guard let layout = child("layout"), let left = DeviceEdge(rawValue: layout.string("left")),
      let right = DeviceEdge(rawValue: layout.string("right")),
      let orientation = InputOrientation(rawValue: string("inputOrientation"))
    else { return "no picture: a mono pattern has no left and right" }
    return StereoLayout(left: left, right: right).picture(held: orientation).joined(separator: "\n")
  }

  /// The seeds' report of the route.
  private var routeLines: [String] {
    guard let input = child("input") else { return [] }
    return [
      "Port: \(PortType(rawValue: input.string("portType"))?.title ?? "")", "Name: \(string("dataSource"))",
      "Polar Pattern: \(PolarPattern(rawValue: string("polarPattern"))?.title ?? "")",
    ]
  }

  /// The seeds' report of what there is to choose.
  var inputsText: String { children("inputs").flatMap(\.inputLines).joined(separator: "\n") }

  private var inputLines: [String] {
    let sources = children("dataSources")
    let type = PortType(rawValue: string("portType"))?.title ?? ""
    let port = "port \"\(string("name"))\" (\(type), UID \(string("uid")))"
    guard !sources.isEmpty else { return ["There is nothing to choose for \(port)"] + routeMark }
    let selected = sources.first { $0.boolean("selected") }?.string("name")
    return [
      "There \(sources.count == 1 ? "is 1 data source" : "are \(sources.count) data sources") for \(port)"
    ] + sources.flatMap(\.dataSourceLines)
      + (selected.map { ["Currently selected source is \"\($0)\" for port \"\(string("name"))\""] } ?? [])
  }

  private var routeMark: [String] { boolean("active") ? ["* it is in the route"] : [] }

  private var dataSourceLines: [String] {
    let selected = string("selectedPolarPattern")
    let patterns = strings("supportedPolarPatterns").map { $0 == selected ? "[\($0)]" : $0 }
    let offered =
      "\(boolean("selected") ? "* " : "  ")ID \(integer("id"))  " + string("name").padded(8) + " "
      + patterns.joined(separator: ", ")
    let refused = children("notOffered").map { refusal in
      let orientation = refusal.string("inputOrientation")
      return "    no \(refusal.string("polarPattern"))\(orientation.isEmpty ? "" : " in ")\(orientation): "
        + refusal.string("reason")
    }
    return [offered] + refused
  }
}
