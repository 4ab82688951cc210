import Acoustics
import Messages
import Text

/// The setting in force, which a status and the answer to a change have in common.
package protocol SettingReport: PoseReport {
  var preset: String { get }
  var dataSource: String { get }
  var polarPattern: PolarPattern { get }
  var inputOrientation: InputOrientation { get }
  /// Nil for the data source's forward.
  var look: Look? { get }
  /// Nil for mono patterns.
  var layout: StereoLayout? { get }
  var gainDB: Double { get }
  /// Nil if the high-pass is off.
  var highPassHz: Double? { get }
  /// Nil if no filters follow the sound.
  var adaptation: Double? { get }
  var muted: Bool { get }
  /// Nil if the selection is heard, rather than one microphone.
  var listening: String? { get }
}

extension SettingReport {
  /// One line: the selection, and where left and right are.
  fileprivate var settingText: String {
    var text = "\(preset): \(dataSource), \(polarPattern.phrase)"
    if let look { text += " at \(look)" }
    if let listening {
      text += "; only the microphone \(listening) is heard"
    } else if let layout {
      text += ", \(inputOrientation.rawValue)" + (polarPattern == .stereo ? "; " + layout.text : "")
    }
    text += poseText
    if gainDB != 0 { text += String(format: ", %+g dB", gainDB) }
    if let highPassHz { text += String(format: ", high-pass %g Hz", highPassHz) }
    if let adaptation, polarPattern == .stereo { text += String(format: ", adapting %g", adaptation) }
    return muted ? text + ", muted" : text
  }
}

extension StereoLayout {
  fileprivate var text: String {
    guard let sides else {
      return "left hears the device's \(left.rawValue) edge, right its \(right.rawValue) edge"
    }
    return "left hears the side of \(sides.left), right that of \(sides.right)"
  }
}

extension ChangeReport: SettingReport {
  /// The setting in force. If the request is deferred, the reason precedes it.
  package var text: String {
    [kept, settingText, weak.map { "weak: " + $0.printable }].compactMap(\.self).joined(separator: "\n")
  }
}

extension ForgetAnswer {
  /// The answer as `pinna forget` prints it.
  var text: String {
    forgotten == 0 ? "there was nothing to forget" : "\("connection".counted(forgotten)) forgotten"
  }
}

extension CancelAnswer {
  package var text: String { "cancelled: \(cancelled)" }
}

extension StatusReport: SettingReport {
  package var text: String {
    let graph = [serverText, abandonedText, silence.map { "nothing is heard: " + $0.printable }, midiText]
    let lines =
      ["\(stateText); \(settingText)"] + (weak.map { ["weak: " + $0.printable] } ?? []) + [engineText]
      + graph.compactMap(\.self)
    return
      (lines + (feeds ?? []).map { "feed " + $0.text(with: tracker) } + levelLines + fallbackLines
      + warnings.map { "warning: " + $0.printable } + takeLines
      + changeLines + [trackerText, designText, adaptationLine, talkersLine].compactMap(\.self)
      + routeLines)
      .joined(separator: "\n")
  }

  private var stateText: String {
    if take?.fault != nil { return "recording, but nothing is written to disk any more" }
    if take?.loss != nil { return "recording, but its files were removed" }
    return switch state {
    case .stopped: "not recording"
    case .armed: "armed: the take begins when the transport rolls"
    case .recording, .playing: state.rawValue
    }
  }

  private var engineText: String {
    "\("microphone".counted(microphones)) at \(sampleRate) Hz, period \(period), "
      + "latency \("frame".counted(latencyFrames)), \("xrun".counted(xruns)), "
      + String(format: "load %.1f %%", dspLoad)
  }

  /// Nil while the server runs.
  private var serverText: String? {
    switch server {
    case .running: nil
    case .gone: "no JACK server is running; Pinna continues when one starts"
    case .joining: "Pinna is joining the JACK graph: its filters and ports are being prepared"
    case .stalled: "the JACK server runs no periods: nothing is heard or recorded until it does"
    case .unusable: "Pinna cannot use the JACK server with its present settings"
    }
  }

  /// Nil if there is none.
  private var abandonedText: String? {
    abandonedClients.map {
      "other programs removed Pinna from the graph \("time".counted($0)); libjack keeps some memory of each until Pinna ends"
    }
  }

  /// Nil while no MIDI device is connected.
  private var midiText: String? {
    guard let midi, !midi.sources.isEmpty else { return nil }
    let sources = midi.sources.map(\.printable).joined(separator: ", ")
    let bank = midi.bank.map { "bank \($0)" } ?? "all presets"
    return
      "MIDI from \(sources): \(bank), \("controller".counted(midi.controllers))"
  }

  private var levelLines: [String] {
    (levels.microphones + levels.outputs + (levels.feeds ?? [])).map {
      "  " + $0.name.padded(16) + "\(Self.level($0.rmsDB)) rms \(Self.level($0.peakDB)) peak"
    }
  }

  /// " -20.1 dB"; a dash for no signal at all.
  private static func level(_ level: Double) -> String {
    level <= -150 ? "      –   " : String(format: "%7.1f dB", level)
  }

  /// The calibration, filters that are not ready yet, the missing microphones, and what replaces them.
  private var fallbackLines: [String] {
    let source = calibratedFrom.map { " in \($0.phrase)" } ?? ""
    var known = calibrated.map { ["calibrated on \($0)\(source)"] } ?? []
    if let ready = preparedFallbacks?.count, ready < microphones {
      known.append("filters without one microphone are ready for \(ready) of \(microphones) microphones")
    }
    guard let fallback else { return known }
    let missing = fallback.missing.map { "missing: \($0.name): \($0.fault.sentence)" }
    let inForce =
      fallback.without.isEmpty
      ? "filters for all microphones are in force"
      : "filters without \(fallback.without.joined(separator: ", ")) are in force"
    let rest =
      if let obstacle = fallback.obstacle {
        ", and there are no others: \(obstacle)"
      } else if fallback.without == fallback.missing.map(\.name) {
        ""
      } else {
        "; those for the microphones that work are being prepared"
      }
    return known + missing + [inForce + rest]
  }

  /// The playback, the take in progress, the last take, and takes whose files are still being written.
  private var takeLines: [String] {
    var lines: [String] = []
    if let playback {
      lines.append(
        "playing \(playback.playing.printable): \(playback.framesPlayed) of \(playback.frames) frames")
    }
    if let take {
      let end = take.length.map { " (ends by itself after \(Double($0).clock))" } ?? ""
      let others = (take.feeds ?? []).filter { $0 != Feed.main } + (take.raw == true ? ["microphones"] : [])
      let also = others.isEmpty ? "" : "; also \(others.joined(separator: ", "))"
      lines.append("take: \(take.path.printable), \(take.frames) frames\(end)\(also)")
    }
    if let lastTake {
      lines.append(
        "last take: \(lastTake.path.printable), \(lastTake.frames) frames"
          + (lastTake.endedBecause.map { "; it ended because \($0.printable)" } ?? "")
          + (lastTake.fault.map { "; it is incomplete: \($0.printable)" } ?? ""))
    }
    return lines + closingTakes.map { "being written: \($0.printable)" }
  }

  private var changeLines: [String] {
    var lines: [String] = []
    if let change {
      let what = server == .joining ? "designing filters of" : "changing to"
      lines.append("\(what) \(change.device): " + String(format: "%.0f %%", 100 * change.progress))
    }
    if let controller { lines.append("the session \(controller.printable) controls the route") }
    return lines
  }

  /// The route in the format of the seeds' report.
  private var routeLines: [String] {
    ["Port: \(input.portType.title)", "Name: \(dataSource)", "Polar Pattern: \(polarPattern.title)"]
  }

  /// A drawing of the device as it is held, with left and right at their edges.
  package var picture: String {
    guard let layout else { return "no picture: a mono pattern has no left and right" }
    guard layout.sides == nil else {
      return "no picture: left and right are not named after edges on this device; " + layout.text
    }
    return layout.picture(held: inputOrientation).joined(separator: "\n")
  }
}
