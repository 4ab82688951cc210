import Messages
import Text

extension TakeStartAnswer {
  /// The take's path and format, which channels will be silent, what it records and what not, deviations from the
  /// request, and low disk space.
  package var text: String {
    let format = convertedTake?.split(separator: ".").last
    let conversion = format.map { " (to be converted to \($0) at its end)" } ?? ""
    let title =
      armed == true
      ? "armed: \(take.printable)\(conversion) begins when the transport rolls"
      : "recording \(take.printable)\(conversion)"
    let first = silences.isEmpty ? title : "\(title): \(silences.joined(separator: "; "))"
    let end = length.map { "it ends by itself after \(Double($0).clock)" }
    return ([first, feedsText, end].compactMap(\.self) + notes + [roomText].compactMap(\.self)).joined(
      separator: "; ")
  }

  /// "recorded: main, anna; not recorded: room, microphones (--raw)"
  private var feedsText: String? {
    guard let feeds, let raw else { return nil }
    let all = feeds + (unrecordedFeeds ?? [])
    let recorded = (all.count > 1 ? feeds : []) + (raw ? ["microphones"] : [])
    let omitted = (unrecordedFeeds ?? []) + (raw ? [] : ["microphones (--raw)"])
    return [
      recorded.isEmpty ? nil : "recorded: " + recorded.joined(separator: ", "),
      omitted.isEmpty ? nil : "not recorded: " + omitted.joined(separator: ", "),
    ].compactMap(\.self).joined(separator: "; ")
  }

  private var silences: [String] {
    var silences: [String] = []
    if muted {
      silences.append("silence, because the outputs are muted")
    } else if !unconnected.isEmpty, unconnected.count == microphoneCount {
      silences.append("silence, because no microphone is connected")
    }
    if !unconnected.isEmpty, unconnected.count < microphoneCount {
      let verb = unconnected.count == 1 ? "is" : "are"
      silences.append(
        "\(unconnected.count) of \(microphoneCount) microphones \(verb) not connected: "
          + unconnected.joined(separator: ", "))
    }
    return silences
      + (missing ?? []).map { "microphone \($0.name) does not work, because \($0.fault.sentence)" }
  }

  private var roomText: String? {
    guard let secondsLeft else { return nil }
    let room =
      secondsLeft < 120
      ? "second".counted(secondsLeft)
      : secondsLeft < 7200 ? "minute".counted(secondsLeft / 60) : "hour".counted(secondsLeft / 3600)
    return "the disk has room for \(room)"
  }
}

extension TakeAnswer {
  package var text: String {
    let others = (feeds ?? []).map(\.path).filter { $0 != take }.map(\.printable)
    let details = [
      others.isEmpty ? nil : "also " + others.joined(separator: ", "),
      microphones.map { "microphones in \($0.printable)" },
      clippedSamples > 0 ? "\(clippedSamples) samples clipped" : nil,
      silencedSamples > 0 ? "\(silencedSamples) invalid samples replaced by silence" : nil,
      pauses > 0 ? "no periods reached Pinna \("time".counted(pauses))" : nil,
    ].compactMap(\.self)
    return (["\(take.printable): \(frames) frames, \("channel".counted(channels))"] + details + notes)
      .joined(separator: "; ")
  }
}

extension RecordStopAnswer {
  package var text: String {
    switch self {
    case .ended(let take): take.text
    case .disarmed(let take):
      "disarmed: nothing was recorded, and no file of \(take.disarmed.printable) is left"
    }
  }
}

extension StopAnswer {
  /// "stopped", and each take that ended because Pinna stopped.
  package var text: String {
    (["stopped"] + takes.map { "take \($0.take.printable): \("frame".counted($0.frames))" }).joined(
      separator: "; ")
  }
}

extension Double {
  /// Seconds as "0:01:05.3".
  var clock: String {
    let tenths = Int((self * 10).rounded())
    return String(
      format: "%d:%02d:%02d.%d", tenths / 36_000, tenths / 600 % 60, tenths / 10 % 60, tenths % 10)
  }
}
