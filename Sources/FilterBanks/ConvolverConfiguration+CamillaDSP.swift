import Acoustics

extension ConvolverConfiguration {
  /// A configuration of CamillaDSP 4 or newer. A mixer gives each route a channel of its own, a convolution filters it,
  /// and a second mixer adds them up.
  ///
  /// Paths of WAV files are relative to the configuration.
  var camillaDSP: String {
    let comments =
      heading + [
        "For CamillaDSP 4 or newer. Put the array and the outputs after `device:`; arecord -L and aplay -L list them.",
        "In place of Alsa, capture and playback may have another type that your CamillaDSP was built with.",
        "Playback channels: \(outputs.enumerated().map { "\($0) \($1)" }.joined(separator: ", "))",
      ]
    let lines =
      comments.map { "# " + $0 } + ["---"] + deviceLines + ["", "filters:"] + filterLines + ["", "mixers:"]
      + fanLines + sumLines + ["", "pipeline:"] + pipelineLines
    return lines.joined(separator: "\n") + "\n"
  }

  /// The number of channels that the array is opened with: all of the card's, because each microphone has its own.
  private var captureCount: Int {
    max(device.hardware?.channels ?? 0, device.captureChannels.max() ?? 1)
  }

  private var deviceLines: [String] {
    let card =
      device.hardware.flatMap { hardware in
        hardware.cardID.map { "hw:\($0)\(hardware.device == 0 ? "" : ",\(hardware.device)")" }
      } ?? "default"
    return [
      "devices:", "  samplerate: \(bank.sampleRate)", "  chunksize: 256", "  capture:", "    type: Alsa",
      "    channels: \(captureCount)", "    device: \(Self.quoted(card))", "  playback:", "    type: Alsa",
      "    channels: \(outputs.count)", "    device: \"default\"",
    ]
  }

  /// Of all parts, with outputs counted among those of all.
  private var routes: [Route] {
    parts.flatMap { part in
      part.routes.map {
        Route(microphone: $0.microphone, output: part.firstOutput + $0.output, channel: $0.channel)
      }
    }
  }

  private func filterName(_ microphone: Int, _ output: String) -> String {
    Self.quoted("\(microphones[microphone]) to \(output)")
  }

  private func highPassName(_ part: Part) -> String { "high_pass" + (part.name.map { "_\($0)" } ?? "") }

  private var filterLines: [String] {
    parts.flatMap { part in
      let highPassLines =
        part.highPass.frequency.map {
          [
            "  \(highPassName(part)):", "    type: Biquad", "    parameters:", "      type: Highpass",
            "      freq: \($0.value)",
            "      q: \(0.5.squareRoot())",
          ]
        } ?? []
      return part.routes.flatMap {
        [
          "  \(filterName($0.microphone, part.outputs[$0.output])):", "    type: Conv", "    parameters:",
          "      type: Wav",
          "      filename: \(Self.quoted(part.wav))", "      channel: \($0.channel)",
        ]
      } + highPassLines
    }
  }

  private var fanLines: [String] {
    let heading = mixerHeading("fan_out", from: captureCount, to: routes.count)
    return heading
      + routes.enumerated().flatMap { destination, route in
        mapping(to: destination, from: [device.captureChannels[route.microphone] - 1], gain: 0)
      }
  }

  private var sumLines: [String] {
    let gains = parts.flatMap { part in part.outputs.map { _ in part.gain.value } }
    return mixerHeading("sum", from: routes.count, to: outputs.count)
      + outputs.indices.flatMap { output in
        mapping(to: output, from: routes.indices.filter { routes[$0].output == output }, gain: gains[output])
      }
  }

  private func mixerHeading(_ name: String, from inputs: Int, to outputs: Int) -> [String] {
    ["  \(name):", "    channels:", "      in: \(inputs)", "      out: \(outputs)", "    mapping:"]
  }

  /// - Parameter gain: in decibels.
  private func mapping(to destination: Int, from sources: [Int], gain: Double) -> [String] {
    ["      - dest: \(destination)", "        sources:"]
      + sources.flatMap { ["          - channel: \($0)", "            gain: \(gain)"] }
  }

  private var pipelineLines: [String] {
    func filter(_ channels: [Int], _ name: String) -> [String] {
      ["  - type: Filter", "    channels: \(channels)", "    names:", "      - \(name)"]
    }
    let highPasses = parts.filter { $0.highPass.frequency != nil }.flatMap { part in
      filter(Array(part.firstOutput..<part.firstOutput + part.outputs.count), highPassName(part))
    }
    return ["  - type: Mixer", "    name: fan_out"]
      + routes.enumerated().flatMap { filter([$0], filterName($1.microphone, outputs[$1.output])) }
      + ["  - type: Mixer", "    name: sum"] + highPasses
  }
}
