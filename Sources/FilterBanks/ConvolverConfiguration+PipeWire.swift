import Acoustics

extension ConvolverConfiguration {
  /// A configuration that `pipewire -c FILE` runs as a client of the user's PipeWire: the array goes in, and what comes
  /// out is a microphone of the desktop.
  ///
  /// Each microphone has a `copy` node, each route a convolver, each output a tree of mixers.
  var pipeWire: String {
    let comments =
      heading + [
        "Start it with: pipewire -c FILE, and FILE with its whole path. If this folder is moved, change `filename`.",
        "It converts other sample rates to \(bank.sampleRate) Hz. To choose the array, set target.object to its node's name.",
      ]
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
      \(parts.map(filterChain).joined(separator: "\n"))
      ]

      """
  }

  /// The module of a part: nodes of its own for the array and for what comes out. As one group, no part becomes the
  /// microphones of another.
  private func filterChain(_ part: Part) -> String {
    let graph = PipeWireGraph(part, microphones: microphones.count, folder: folder)
    let title = "\(device.title), \(part.name ?? part.filterCase.polarPattern.rawValue)"
    let node = "pinna-\(device.name)-\(part.name ?? String(part.wav.dropLast(".wav".count)))"
    let ofFeed = part.name.map { ", \($0)" } ?? ""
    return """
          { name = libpipewire-module-filter-chain
              args = {
                  media.name   = \(Self.quoted(title))
                  audio.rate   = \(bank.sampleRate)
                  node.link-group = \(Self.quoted("pinna-\(device.name)"))
                  filter.graph = {
                      nodes = [
      \(graph.nodes.map { "                    " + $0 }.joined(separator: "\n"))
                      ]
                      links = [
      \(graph.links.map { "                    " + $0 }.joined(separator: "\n"))
                      ]
                      inputs  = [ \(graph.inputs.joined(separator: " ")) ]
                      outputs = [ \(graph.outputs.joined(separator: " ")) ]
                  }
                  capture.props = {
                      node.name          = \(Self.quoted("\(node)-microphones"))
                      node.description   = \(Self.quoted("\(device.title)\(ofFeed), microphones"))
                      # target.object    = "alsa_input.…"
                      audio.channels     = \(microphones.count)
                      audio.position     = [ \(device.captureChannels.map { "AUX\($0 - 1)" }.joined(separator: " ")) ]
                      stream.dont-remix  = true
                      node.passive       = true
                  }
                  playback.props = {
                      node.name        = \(Self.quoted(node))
                      node.description = \(Self.quoted(title))
                      media.class      = Audio/Source
                      audio.channels   = \(part.outputs.count)
                      audio.position   = [ \(part.positions.joined(separator: " ")) ]
                  }
              }
          }
      """
  }
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

  init(_ part: ConvolverConfiguration.Part, microphones: Int, folder: String) {
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
        let file = ConvolverConfiguration.quoted("\(folder)/\(part.wav)")
        node(
          convolver, "convolver",
          "config = { filename = \(file) channel = \(route.channel) gain = \(part.factor * Self.boost) }"
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
