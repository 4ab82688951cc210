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
    let card = device.hardware?.cards.first.map { "hw:\($0)" } ?? "default"
    return [
      "devices:", "  samplerate: \(bank.sampleRate)", "  chunksize: 256", "  capture:", "    type: Alsa",
      "    channels: \(captureCount)", "    device: \(Self.quoted(card))", "  playback:", "    type: Alsa",
      "    channels: \(Self.outputs.count)", "    device: \"default\"",
    ]
  }

  private func filterName(_ route: Route) -> String {
    Self.quoted("\(microphones[route.microphone]) to \(Self.outputs[route.output])")
  }

  private var filterLines: [String] {
    let highPassLines =
      highPass.frequency.map {
        [
          "  high_pass:", "    type: Biquad", "    parameters:", "      type: Highpass",
          "      freq: \($0.value)",
          "      q: \(0.5.squareRoot())",
        ]
      } ?? []
    return routes.flatMap {
      [
        "  \(filterName($0)):", "    type: Conv", "    parameters:", "      type: Wav",
        "      filename: \(Self.quoted(wav))", "      channel: \($0.channel)",
      ]
    } + highPassLines
  }

  private var fanLines: [String] {
    let heading = mixerHeading("fan_out", from: captureCount, to: routes.count)
    return heading
      + routes.enumerated().flatMap { destination, route in
        mapping(to: destination, from: [device.captureChannels[route.microphone] - 1], gain: 0)
      }
  }

  private var sumLines: [String] {
    mixerHeading("sum", from: routes.count, to: Self.outputs.count)
      + Self.outputs.indices.flatMap { output in
        mapping(to: output, from: routes.indices.filter { routes[$0].output == output }, gain: gain.value)
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
    return ["  - type: Mixer", "    name: fan_out"]
      + routes.enumerated().flatMap { filter([$0], filterName($1)) }
      + ["  - type: Mixer", "    name: sum"]
      + (highPass.frequency == nil ? [] : filter(Array(Self.outputs.indices), "high_pass"))
  }
}
