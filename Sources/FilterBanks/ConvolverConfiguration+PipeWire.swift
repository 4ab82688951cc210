import Acoustics
import Text

extension ConvolverConfiguration {
  /// A configuration that `pipewire -c FILE` runs as a client of the user's PipeWire: the array goes in, and what comes
  /// out is a microphone of the desktop.
  ///
  /// Each microphone has a `copy` node, each route a convolver, each output a tree of mixers.
  var pipeWire: String {
    let comments =
      heading + [
        "Start it with: pipewire -c FILE, and FILE with its whole path. If this folder is moved, change `filename`.",
        "\(rateComment) To choose the array, set target.object to its node's name.",
        Self.latencyComment,
      ]
    let modules = parts.enumerated().map { place, part in
      """
          { name = libpipewire-module-filter-chain
              args = {
      \(filterChain(part, place: place, target: nil).map { "            " + $0 }.joined(separator: "\n"))
              }
          }
      """
    }
    return comments.map { "# " + $0 + "\n" }.joined() + """

      context.properties = { log.level = 2 }

      context.spa-libs = {
          audio.convert.* = audioconvert/libspa-audioconvert
          support.*       = support/libspa-support
      }

      context.modules = [
          { name = libpipewire-module-rt
              args = { nice.level = -11 }
              flags = [ ifexists nofail ]
          }
          { name = libpipewire-module-protocol-native }
          { name = libpipewire-module-client-node }
          { name = libpipewire-module-adapter }
      \(modules.joined(separator: "\n"))
      ]

      """
  }

  /// Which filters play at which rate.
  var rateComment: String {
    guard sampleRates.count > 1 else { return "It converts other sample rates to \(bank.sampleRate) Hz." }
    return "It runs at the graph's sample rate, with the filters of the nearest of these."
  }

  static let latencyComment = "PipeWire before 1.6 warns that it ignores `latency`, and reports none."

  /// The arguments of the module of a part: nodes of its own for the array and for what comes out. As one group, no part
  /// becomes the microphones of another.
  /// - Parameters:
  ///   - place: of the part among all: the first is the default microphone.
  ///   - target: the node's name of the array; nil to leave the choice to the user.
  func filterChain(_ part: Part, place: Int = 0, target: String?) -> [String] {
    let graph = PipeWireGraph(
      part, microphones: microphones.count, folder: folder,
      latency: banks.map { Double($0.delayFrames) / Double($0.sampleRate) }.max()!)
    let title = "\(device.title), \(part.name ?? part.filterCase.polarPattern.rawValue)"
    let node = "pinna-\(device.name)-\(part.name ?? String(part.wav.dropLast(".wav".count)))"
    let ofFeed = part.name.map { ", \($0)" } ?? ""
    let capture =
      [
        "node.name          = \(Self.quoted("\(node)-microphones"))",
        "node.description   = \(Self.quoted("\(device.title)\(ofFeed), microphones"))",
      ]
      + (target.map {
        // It waits for this node, and takes no other.
        [
          "target.object      = \(Self.quoted($0))", "node.dont-fallback = true", "node.linger        = true",
        ]
      } ?? ["# target.object    = \"alsa_input.…\""])
      + [
        "audio.channels     = \(microphones.count)",
        "audio.position     = [ \(device.captureChannels.map { "AUX\($0 - 1)" }.joined(separator: " ")) ]",
        "stream.dont-remix  = true", "node.passive       = true",
      ]
    let playback = [
      "node.name        = \(Self.quoted(node))", "node.description = \(Self.quoted(title))",
      "media.class      = Audio/Source", "device.icon-name = audio-input-microphone",
      "priority.session = \(Self.priority - place)", "audio.channels   = \(part.outputs.count)",
      "audio.position   = [ \(part.positions.joined(separator: " ")) ]",
    ]
    return ["media.name   = \(Self.quoted(title))"]
      + (sampleRates.count > 1 ? [] : ["audio.rate   = \(bank.sampleRate)"])
      + ["node.link-group = \(Self.quoted("pinna-\(device.name)"))", "filter.graph = {", "    nodes = ["]
      + graph.nodes.map { "        " + $0 } + ["    ]", "    links = ["]
      + graph.links.map { "        " + $0 }
      + [
        "    ]", "    inputs  = [ \(graph.inputs.joined(separator: " ")) ]",
        "    outputs = [ \(graph.outputs.joined(separator: " ")) ]", "}", "capture.props = {",
      ] + capture.map { "    " + $0 } + ["}", "playback.props = {"] + playback.map { "    " + $0 } + ["}"]
  }

  /// Above that of a USB array with the profile Pro Audio, to which WirePlumber gives 2600.
  private static let priority = 2700
}

extension ConvolverConfiguration.Part {
  /// PipeWire's names of the outputs. It has none for those of B-format.
  fileprivate var positions: [String] {
    switch outputs.count {
    case 1: ["MONO"]
    case 2: ["FL", "FR"]
    case let count: (0..<count).map { "AUX\($0)" }
    }
  }
}

/// The nodes and links of a filter-chain.
private struct PipeWireGraph {
  /// A mixer has at most this many inputs.
  private static let mixerInputs = 8
  /// PipeWire leaves out the end of a filter that stays below 1e-6. Filters are this much louder, and mixers that much
  /// softer, so that only what stays below 1e-9 is left out. A power of two, which rounds nothing.
  private static let boost: Float = 1024

  private(set) var nodes: [String] = []
  private(set) var links: [String] = []
  private(set) var inputs: [String] = []
  private(set) var outputs: [String] = []

  /// - Parameters:
  ///   - microphones: their number.
  ///   - folder: of the WAV files.
  ///   - latency: of the filters, in seconds; at several rates, the longest.
  init(_ part: ConvolverConfiguration.Part, microphones: Int, folder: String, latency: Double) {
    let files = part.wavs.map { ConvolverConfiguration.quoted("\(folder)/\($0)") }
    let file = files.count == 1 ? files[0] : "[ \(files.joined(separator: " ")) ]"
    // A little more: PipeWire reports whole frames, and cuts off the rest.
    let seconds = String(format: "%.7f", ((latency * 1e7).rounded(.down) + 1) / 1e7)
    for microphone in 0..<microphones {
      let isUsed = part.routes.contains { $0.microphone == microphone }
      inputs.append(isUsed ? ConvolverConfiguration.quoted("microphones-\(microphone + 1):In") : "null")
      // No feed is called "microphones", and no name of an output has a hyphen.
      if isUsed { node("microphones-\(microphone + 1)", "copy") }
    }
    for (output, name) in part.outputs.enumerated() {
      var signals: [String] = []
      for route in part.routes where route.output == output {
        let convolver = "\(name)-\(route.microphone + 1)"
        node(
          convolver, "convolver",
          "config = { filename = \(file) channel = \(route.channel) gain = \(part.factor * Self.boost) latency = \(seconds) }"
        )
        link("microphones-\(route.microphone + 1)", convolver, "In")
        signals.append(convolver)
      }
      outputs.append(
        sum(signals, name, gain: 1 / Self.boost).map { ConvolverConfiguration.quoted("\($0):Out") } ?? "null")
    }
  }

  /// The node with the sum of `signals` times `gain`; nil if there are none. Where they are too many for one mixer,
  /// groups are mixed first.
  private mutating func sum(_ signals: [String], _ name: String, gain: Float) -> String? {
    guard !signals.isEmpty else { return nil }
    guard signals.count <= Self.mixerInputs else {
      let groups = stride(from: 0, to: signals.count, by: Self.mixerInputs).map { first in
        sum(Array(signals[first...].prefix(Self.mixerInputs)), "\(name)-from\(first + 1)", gain: gain)!
      }
      return sum(groups, "\(name)-sum", gain: 1)
    }
    // PipeWire 0.3.65 ignores the gain of a mixer's only input.
    let signals = signals.count == 1 ? [signals[0], signals[0]] : signals
    let gain = signals[0] == signals[1] ? gain / 2 : gain
    let gains = signals.indices.map { "\"Gain \($0 + 1)\" = \(gain)" }
    node(name, "mixer", "control = { \(gains.joined(separator: " ")) }")
    for (n, signal) in signals.enumerated() { link(signal, name, "In \(n + 1)") }
    return name
  }

  private mutating func node(_ name: String, _ label: String, _ more: String = "") {
    nodes.append("{ type = builtin name = \(name) label = \(label) \(more.isEmpty ? "" : more + " ")}")
  }

  private mutating func link(_ from: String, _ to: String, _ input: String) {
    links.append("{ output = \"\(from):Out\" input = \"\(to):\(input)\" }")
  }
}
