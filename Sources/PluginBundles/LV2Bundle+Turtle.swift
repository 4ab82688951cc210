import Acoustics
import Plugin
import Presets
import Settings
import Text

/// The descriptions of a bundle, in Turtle.
/// - Source: the LV2 specification, lv2plug.in/ns.
extension LV2Bundle {
  private var prefixes: String {
    [
      "bufsz: <http://lv2plug.in/ns/ext/buf-size#>",
      "doap: <http://usefulinc.com/ns/doap#>", "log: <http://lv2plug.in/ns/ext/log#>",
      "lv2: <http://lv2plug.in/ns/lv2core#>", "opts: <http://lv2plug.in/ns/ext/options#>",
      "pg: <http://lv2plug.in/ns/ext/port-groups#>", "pprops: <http://lv2plug.in/ns/ext/port-props#>",
      "pset: <http://lv2plug.in/ns/ext/presets#>", "rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>",
      "rdfs: <http://www.w3.org/2000/01/rdf-schema#>", "units: <http://lv2plug.in/ns/extensions/units#>",
      "urid: <http://lv2plug.in/ns/ext/urid#>", "work: <http://lv2plug.in/ns/ext/worker#>",
    ].map { "@prefix \($0) .\n" }.joined()
  }

  var manifestTurtle: String {
    let settings = presets.map { preset, _ in
      """

      <\(uri)#\(preset.name)>
        a pset:Preset ;
        lv2:appliesTo <\(uri)> ;
        rdfs:label \(quoted(preset.title)) ;
        rdfs:seeAlso <plugin.ttl> .

      """
    }
    return """
      \(prefixes)
      <\(uri)>
        a lv2:Plugin ;
        lv2:binary <\(Self.libraryFile)> ;
        rdfs:seeAlso <plugin.ttl> .

      """ + settings.joined()
  }

  var pluginTurtle: String {
    """
    \(prefixes)
    <\(uri)>
      a lv2:Plugin , lv2:SpatialPlugin ;
      doap:name \(quoted(title)) ;
      doap:license <http://www.apache.org/licenses/LICENSE-2.0> ;
      rdfs:comment \(quoted("Polar patterns and binaural stereo from the microphones of: \(device.title).")) ;
      lv2:minorVersion 2 ;
      lv2:microVersion 0 ;
      lv2:optionalFeature lv2:hardRTCapable , bufsz:coarseBlockLength , log:log , opts:options , urid:map ,
        work:schedule ;
      lv2:extensionData work:interface ;
      opts:supportedOption bufsz:nominalBlockLength , bufsz:maxBlockLength ;
      pg:mainInput <\(uri)#microphones> ;
      pg:mainOutput <\(uri)#out> ;
      lv2:port \(ports.enumerated().map { port($1, at: $0) }.joined(separator: " , ")) .

    \(groups.joined(separator: "\n"))
    \(presets.map { settingTurtle($0, $1) }.joined(separator: "\n"))
    """
  }

  /// "Pinna, Phone with five microphones", with the preset's name if it is not the device's. Hosts name JACK clients and
  /// ports after it, and programs take what follows the first colon of a full name for the port's.
  private var title: String {
    "Pinna, \(device.title.replacing(":", with: ""))"
      + (preset.name == device.name ? "" : " (\(preset.name))")
  }

  private func settingTurtle(_ preset: Preset, _ setting: PluginSetting) -> String {
    let values: [(PluginControl, Double)] = [
      (.dataSource, Double(setting.dataSource)), (.pattern, Double(setting.pattern)),
      (.orientation, Double(setting.orientation)), (.gain, setting.gain), (.highPass, setting.highPass),
    ]
    let ports = values.map { "[ lv2:symbol \(quoted(Self.words(of: $0).symbol)) ; pset:value \($1) ]" }
    return """
      <\(uri)#\(preset.name)>
        a pset:Preset ;
        lv2:appliesTo <\(uri)> ;
        rdfs:label \(quoted(preset.title)) ;
        lv2:port \(ports.joined(separator: " ,\n    ")) .

      """
  }

  // MARK: - Ports

  /// A port's symbol, name, and what else is said of it.
  private struct Port {
    var symbol: String
    let name: String
    let properties: [String]
  }

  /// In the order of their numbers; see `PluginControl`.
  private var ports: [Port] {
    let microphones = device.microphones.map {
      Port(
        symbol: $0.name, name: $0.name,
        properties: ["a lv2:InputPort , lv2:AudioPort", "pg:group <\(uri)#microphones>"])
    }
    let main = [("left", "Left"), ("right", "Right")].map { side, name in
      Port(
        symbol: "out_\(side)", name: "Out \(name)",
        properties: [
          "a lv2:OutputPort , lv2:AudioPort", "pg:group <\(uri)#out>", "lv2:designation pg:\(side)",
        ])
    }
    let feeds = preset.others.flatMap { feed in
      zip(feed.portNames, designations(of: feed)).map { name, designation in
        Port(
          symbol: name, name: name,
          properties: ["a lv2:OutputPort , lv2:AudioPort", "pg:group <\(uri)#feed-\(feed.name)>"]
            + (designation.map { ["lv2:designation \($0)"] } ?? []))
      }
    }
    let controls = PluginControl.allCases.map {
      Port(
        symbol: Self.words(of: $0).symbol, name: Self.words(of: $0).name,
        properties: [
          "a \($0.isInput ? "lv2:InputPort" : "lv2:OutputPort") , lv2:ControlPort"
        ] + properties(of: $0))
    }
    // Those of controls are as users automate them; others make way.
    var used = Set(controls.map(\.symbol))
    let audio = (microphones + main + feeds).map { port in
      var port = port
      let plain = Self.symbol(port.symbol)
      var number = 1
      port.symbol = plain
      while !used.insert(port.symbol).inserted {
        number += 1
        port.symbol = "\(plain)_\(number)"
      }
      return port
    }
    return audio + controls
  }

  private func port(_ port: Port, at index: Int) -> String {
    let lines =
      port.properties.prefix(1)
      + ["lv2:index \(index)", "lv2:symbol \(quoted(port.symbol))", "lv2:name \(quoted(port.name))"]
      + port.properties.dropFirst()
    return "[\n    \(lines.joined(separator: " ;\n    "))\n  ]"
  }

  /// A word as LV2 allows it in symbols: letters, digits and _, with no digit at the beginning.
  private static func symbol(_ word: String) -> String {
    let plain = word.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
    return (plain.first?.isNumber == true ? "_" : "") + String(plain)
  }

  private func designations(of feed: FeedSetting) -> [String?] {
    switch feed.selection.polarPattern.outputs {
    case 1: [nil]
    case 2: ["pg:left", "pg:right"]
    case let count: (0..<count).map { $0 < 16 ? "pg:ACN\($0)" : nil }
    }
  }

  private var groups: [String] {
    func group(_ fragment: String, _ types: String, _ name: String, _ symbol: String) -> String {
      """
      <\(uri)#\(fragment)>
        a \(types) ;
        lv2:symbol \(quoted(symbol)) ;
        lv2:name \(quoted(name)) .

      """
    }
    let feeds = preset.others.map { feed in
      let type: String? =
        switch feed.selection.polarPattern.ambisonicsOrder {
        case nil: feed.selection.polarPattern == .stereo ? "pg:StereoGroup" : "pg:MonoGroup"
        case let order? where order <= 3: "pg:AmbisonicBH\(order)P\(order)Group"
        default: nil
        }
      return group(
        "feed-\(feed.name)", (["pg:OutputGroup"] + [type].compactMap(\.self)).joined(separator: " , "),
        feed.name,
        "feed_\(feed.name)")
    }
    return [
      group("microphones", "pg:InputGroup", "Microphones", "group_microphones"),
      group("out", "pg:OutputGroup , pg:StereoGroup", "Out", "group_out"),
    ] + feeds
  }

  // MARK: - Controls

  /// The symbol of a control's port, and its name for people.
  private static func words(of control: PluginControl) -> (symbol: String, name: String) {
    switch control {
    case .dataSource: ("data_source", "Data source")
    case .pattern: ("pattern", "Polar pattern")
    case .orientation: ("orientation", "Input orientation")
    case .gain: ("gain", "Gain")
    case .highPass: ("high_pass", "High-pass")
    case .mute: ("mute", "Mute")
    case .lock: ("lock", "Lock")
    case .freewheeling: ("freewheeling", "Freewheeling")
    case .latency: ("latency", "Latency")
    case .refused: ("refused", "Refused changes")
    case .peakLeft: ("peak_left", "Peak left")
    case .peakRight: ("peak_right", "Peak right")
    }
  }

  private func properties(of control: PluginControl) -> [String] {
    func range(_ initial: Double, _ range: ClosedRange<Double>) -> [String] {
      ["lv2:default \(initial)", "lv2:minimum \(range.lowerBound)", "lv2:maximum \(range.upperBound)"]
    }
    func choices(_ initial: Int, _ words: [String]) -> [String] {
      let points = words.enumerated().map { "[ rdfs:label \(quoted($1)) ; rdf:value \($0) ]" }
      return range(Double(initial), 0...Double(max(1, words.count - 1))) + [
        "lv2:portProperty lv2:integer , lv2:enumeration", "lv2:scalePoint \(points.joined(separator: " , "))",
      ]
    }
    let toggle = range(0, 0...1) + ["lv2:portProperty lv2:toggled"]
    switch control {
    case .dataSource: return choices(initial.dataSource, offer.dataSources)
    case .pattern: return choices(initial.pattern, offer.patterns.map(\.rawValue))
    case .orientation: return choices(initial.orientation, offer.orientations.map(\.rawValue))
    case .gain: return range(initial.gain, Decibels.outputGains) + ["units:unit units:db"]
    case .highPass:
      return range(initial.highPass, 0...HighPass.range.upperBound) + [
        "units:unit units:hz", "lv2:scalePoint [ rdfs:label \"off\" ; rdf:value 0 ]",
        "rdfs:comment \(quoted("Corner of the outputs' high-pass; off below \(HighPass.range.lowerBound.plain) Hz."))",
      ]
    case .mute: return toggle
    case .lock:
      return toggle + [
        "rdfs:comment \(quoted("While it is on, changes of the other controls do nothing, and are counted as refused."))"
      ]
    case .freewheeling:
      return toggle + ["lv2:designation lv2:freeWheeling", "lv2:portProperty pprops:notOnGUI"]
    case .latency:
      return range(0, 0...8192) + [
        "lv2:designation lv2:latency", "lv2:portProperty lv2:reportsLatency , lv2:integer , pprops:notOnGUI",
        "units:unit units:frame",
      ]
    case .refused: return range(0, 0...1_000_000) + ["lv2:portProperty lv2:integer"]
    case .peakLeft, .peakRight: return range(-120, -120...12) + ["units:unit units:db"]
    }
  }

  /// `text` between quotes, as Turtle reads it.
  private func quoted(_ text: String) -> String {
    // Scalars: a combining mark behind a quote belongs to its character.
    let escaped = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\\", "\"": "\\\(scalar)"
      case "\n": "\\n"
      default: String(scalar)
      }
    }
    return "\"\(escaped.joined())\""
  }
}
