import Acoustics

extension ConvolverConfiguration {
  /// A configuration of jconvolver 1.0 or newer; its format is described in its README.CONFIG.
  ///
  /// Port names and paths stand between double quotes, because its words end at blanks.
  var jconvolver: String {
    let comments =
      heading + [
        "The server must run at \(bank.sampleRate) Hz. If this folder is moved, change the path after /cd.",
        "The period must be a power of two, 32 to 4096 frames; at 32 it adds \(2 * Self.partition - 32) frames of delay.",
      ]
    var lines = comments.map { "# " + $0 }
    let partition = Self.partition
    lines += [
      "", "# inputs, outputs, smallest partition, longest filter",
      "/convolver/new \(microphones.count) \(outputs.count) \(partition) \(max(parts.map(\.tapCount).max() ?? 0, partition))",
      "/cd \"\(folder)\"", "",
    ]
    lines += microphones.enumerated().map { "/input/name \($0 + 1) \"\($1)\"" }
    lines += outputs.enumerated().map { "/output/name \($0 + 1) \"\($1)\"" }
    lines += ["", "# input, output, gain, delay, offset, length, channel, file"]
    lines += parts.flatMap { part in
      part.routes.map {
        "/impulse/read \($0.microphone + 1) \(part.firstOutput + $0.output + 1) \(part.factor) 0 0 0 \($0.channel + 1) \"\(part.wav)\""
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// In frames. jconvolver raises it to JACK's period where that is longer, so that the smallest delays least.
  private static let partition = 64
}
