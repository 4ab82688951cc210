import Acoustics

extension ConvolverConfiguration {
  /// A fragment for `wireplumber.conf.d` of WirePlumber 0.5 or newer: whenever the product is plugged in, its microphones
  /// are hidden behind one microphone, which is what comes out.
  ///
  /// A rule names the card, because nodes' names depend on serial numbers and sockets. A second rule makes a filter-chain
  /// for its node. The device has `hardware`.
  var wirePlumber: String {
    let hardware = device.hardware!
    let card = "pinna-\(device.name)"
    // WirePlumber's name of a capture device in the profile Pro Audio.
    let node = "alsa_input.\(card).pro-input-\(hardware.device)"
    let comments =
      heading + [
        "For WirePlumber 0.5 or newer, in ~/.config/wireplumber/wireplumber.conf.d; restart it. \(rateComment)",
        "If the folder of the filters is moved, change `filename`. \(Self.latencyComment)",
        "Tried with WirePlumber 0.5.8 and PipeWire 1.4.2: the second rule, with another node of this name. The first one, which",
        "names the card's node and gives it the profile Pro Audio, was not tried with a card. For new rules WirePlumber 0.5.13",
        "recommends a graph inside the card's node (create-filter-graph) instead of another node (hide-parent). Whether such a",
        "graph may turn \(hardware.channels) channels into \(outputs.count) was not seen, and PipeWire 1.4 takes only 511 bytes of it.",
      ]
    let matches =
      hardware.usb.map { id in
        let numbers = id.split(separator: ":").map { "\"0x\($0)\"" }
        return "device.vendor.id = \(numbers[0]) device.product.id = \(numbers[1])"
      } + hardware.cards.map { "api.alsa.card.name = \(Self.quoted("~\(Self.literal($0))"))" }
    let lines =
      comments.map { "# " + $0 } + ["", "monitor.alsa.rules = [", "    {", "        matches = ["]
      + matches.map { "            { media.class = Audio/Device \($0) }" }
      + [
        "        ]", "        actions = { update-props = {",
        "            device.name = \(Self.quoted("alsa_card.\(card)"))",
        "            device.profile = pro-audio",
        "        } }", "    }", "]", "", "node.software-dsp.rules = [", "    {",
        "        matches = [ { node.name = \(Self.quoted(node)) } ]", "        actions = { create-filter = {",
        "            hide-parent = true", "            filter-graph = {",
      ]
      + filterChain(parts[0], target: node).map { "                " + $0 }
      + [
        "            }", "        } }", "    }", "]", "",
        // A filter-chain makes its nodes by that factory, which WirePlumber otherwise loads for Bluetooth alone.
        "wireplumber.profiles = { main = { pw.node-factory.adapter = required node.software-dsp = required } }",
      ]
    return lines.joined(separator: "\n") + "\n"
  }

  /// A POSIX extended regular expression for `text` itself.
  private static func literal(_ text: String) -> String {
    text.reduce(into: "") { $0 += ("\\^$.|?*+()[]{}".contains($1) ? "\\" : "") + String($1) }
  }
}
