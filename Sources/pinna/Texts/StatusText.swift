import Acoustics
import Messages
import Settings
import Text

extension FeedSetting {
  /// One line: the selection, and where left and right are.
  /// - Parameters:
  ///   - layout: nil for mono patterns.
  ///   - listening: nil if the selection is heard, rather than one microphone.
  ///   - tracker: the pose that comes in; nil for none.
  fileprivate func text(
    preset: String, _ layout: StereoLayout?, listening: String?, _ tracker: StatusFields.TrackerReport? = nil
  ) -> String {
    var text = "\(preset): \(selection.dataSource), \(selection.polarPattern.phrase)"
    if let look = selection.look { text += " at \(look)" }
    let isStereo = selection.polarPattern == .stereo
    if let listening {
      text += "; only the microphone \(listening) is heard"
    } else if let layout {
      text += ", \(selection.inputOrientation.rawValue)" + (isStereo ? "; " + layout.text : "")
    }
    text += selection.poseText(with: tracker)
    return text + heardText
  }

  /// Level, high-pass, and what follows the sound, each after a comma; empty where nothing is set.
  var heardText: String {
    var text = ""
    if gain.value != 0 { text += String(format: ", %+g dB", gain.value) }
    if let corner = highPass.frequency { text += String(format: ", high-pass %g Hz", corner.value) }
    if adaptation > 0, selection.polarPattern == .stereo {
      text += String(format: ", adapting %g", adaptation)
    }
    if wind > 0 { text += String(format: ", without wind %g", wind) }
    switch part {
    case .whole: break
    case .talkers: text += ", talkers alone"
    case .room: text += ", the room alone"
    case .one(let name): text += ", \(Int(name) == nil ? "" : "talker ")\(name.printable) alone"
    }
    if let frame { text += ", in the frame \(frame.word)" }
    if room.value != 0 { text += String(format: ", room %g dB", room.value) }
    if talkers.value != 0 { text += String(format: ", talkers %g dB", talkers.value) }
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

extension ChangeReport {
  /// The setting in force. If the request is deferred, the reason precedes it.
  package var text: String {
    let seats = self.seats.map { "seats: " + $0.joined(separator: "; ").printable }
    return [self.kept, settingText, self.weak.map { "weak: " + $0.printable }, seats].compactMap(\.self)
      .joined(
        separator: "\n")
  }

  private var settingText: String {
    first.text(preset: self.preset, self.layout, listening: self.listening)
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

extension StatusReport {
  package var text: String {
    let setting = first.text(
      preset: self.preset, self.layout, listening: self.listening, self.tracker)
    let weak = self.weak.map { ["weak: " + $0.printable] } ?? []
    let feeds = (self.feeds ?? []).map { "feed " + $0.text(with: self.tracker) }
    let more = [trackerText, designText, adaptationLine, windLine, talkersLine].compactMap(\.self)
    let lines =
      ["\(second.stateText); \(setting)"] + weak + second.graphLines + feeds + second.levelLines
      + second.fallbackLines + self.warnings.map { "warning: " + $0.printable } + second.takeLines
      + second.changeLines + more + routeLines
    return lines.joined(separator: "\n")
  }

  /// The route in the format of the seeds' report.
  private var routeLines: [String] {
    [
      "Port: \(self.input.portType.title)", "Name: \(self.selection.dataSource)",
      "Polar Pattern: \(self.selection.polarPattern.title)",
    ]
  }

  /// A drawing of the device as it is held, with left and right at their edges.
  package var picture: String {
    guard let layout = self.layout else { return "no picture: a mono pattern has no left and right" }
    guard layout.sides == nil else {
      return "no picture: left and right are not named after edges on this device; " + layout.text
    }
    return layout.picture(held: self.selection.inputOrientation).joined(separator: "\n")
  }
}

extension StatusFields {
  fileprivate var graphLines: [String] {
    [engineText]
      + [serverText, abandonedText, silence.map { "nothing is heard: " + $0.printable }, midiText]
      .compactMap(\.self)
  }

  fileprivate var stateText: String {
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
      + (adaptationLoad.map { String(format: ", following the sound %.1f %% of a core", $0) } ?? "")
  }

  /// Nil while the server runs.
  private var serverText: String? {
    switch server {
    case .running: nil
    case .gone: "no JACK server is running; Pinna continues when one starts"
    case .joining: "Pinna is joining the JACK graph: its filters and ports are being prepared"
    case .stalled: stallText
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

  fileprivate var levelLines: [String] {
    (levels.microphones + levels.outputs + (levels.feeds ?? [])).map {
      "  " + $0.name.padded(16) + "\(Self.level($0.rmsDB)) rms \(Self.level($0.peakDB)) peak"
    }
  }

  /// " -20.1 dB"; a dash for no signal at all.
  private static func level(_ level: Double) -> String {
    level <= -150 ? "      –   " : String(format: "%7.1f dB", level)
  }

  /// The calibration, filters that are not ready yet, the missing microphones, and what replaces them.
  fileprivate var fallbackLines: [String] {
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
  fileprivate var takeLines: [String] {
    var lines: [String] = []
    if let playback {
      lines.append(
        "playing \(playback.playing.printable): \(playback.framesPlayed) of \(playback.frames) frames")
    }
    if let take {
      let end = take.length.map { " (ends by itself after \(Double($0).clock))" } ?? ""
      let others =
        (take.feeds ?? []).filter { $0 != FeedSetting.main } + (take.raw == true ? ["microphones"] : [])
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

  fileprivate var changeLines: [String] {
    var lines: [String] = []
    if let change {
      let what = server == .joining ? "designing filters of" : "changing to"
      lines.append("\(what) \(change.device): " + String(format: "%.0f %%", 100 * change.progress))
    }
    if let controller { lines.append("the session \(controller.printable) controls the route") }
    return lines
  }
}
