import Control

extension TakeStartAnswer {
  /// Where the take goes, what of it will be silent, what is otherwise than asked for, and a disk that is nearly full.
  package var text: String {
    let format = convertedTake?.split(separator: ".").last
    let conversion = format.map { " (to be converted to \($0) at its end)" } ?? ""
    let title = "recording \(take)\(conversion)"
    let first = silences.isEmpty ? title : "\(title): \(silences.joined(separator: "; "))"
    return ([first] + notes + [roomText].compactMap(\.self)).joined(separator: "; ")
  }

  private var silences: [String] {
    var silences: [String] = []
    if muted {
      silences.append("silence, for the outputs are muted")
    } else if !unconnected.isEmpty, unconnected.count == microphoneCount {
      silences.append("silence, for no microphone is connected")
    }
    if !unconnected.isEmpty, unconnected.count < microphoneCount {
      let verb = unconnected.count == 1 ? "is" : "are"
      silences.append(
        "\(unconnected.count) of \(microphoneCount) microphones \(verb) not connected: "
          + unconnected.joined(separator: ", "))
    }
    return silences
  }

  /// Nil where the disk has room for ten minutes and more.
  private var roomText: String? {
    guard let secondsLeft, secondsLeft < 600 else { return nil }
    let room = secondsLeft < 120 ? "second".counted(secondsLeft) : "minute".counted(secondsLeft / 60)
    return "the disk has room for \(room) of it"
  }
}

extension TakeAnswer {
  package var text: String {
    let details = [
      microphones.map { "microphones in \($0)" },
      clippedSamples > 0 ? "\(clippedSamples) samples clipped" : nil,
      silencedSamples > 0 ? "\(silencedSamples) samples that were no sound silenced" : nil,
      pauses > 0 ? "the server stood still \("time".counted(pauses))" : nil,
    ].compactMap(\.self)
    return (["\(take): \(frames) frames, \("channel".counted(channels))"] + details + notes)
      .joined(separator: "; ")
  }
}

extension StopAnswer {
  /// "stopped", and each take that ended with Pinna.
  package var text: String {
    (["stopped"] + takes.map { "take \($0.take): \("frame".counted($0.frames))" }).joined(separator: "; ")
  }
}
