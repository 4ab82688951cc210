import AudioFiles
import Foundation
import JackClient
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  /// Exported configurations in the programs that they are for, compared with `pinna render` of the same preset.
  @Suite("exported configurations play what Pinna plays") struct ExportLiveTests {
    struct Case: CustomTestStringConvertible {
      /// With shipped filters.
      let device: String
      let title: String
      let pattern: String
      let highPass: String

      var testDescription: String { "\(device), \(pattern), high-pass \(highPass)" }
      var dataSource: String { device == "phone5" ? "Back" : "Front" }
    }

    /// Five microphones, one of five, and 16, for which PipeWire's mixers are cascaded.
    static let cases = [
      Case(device: "phone5", title: "Phone with five microphones", pattern: "stereo", highPass: "80"),
      Case(
        device: "phone5", title: "Phone with five microphones", pattern: "omnidirectional", highPass: "20"),
      Case(device: "uma16", title: "miniDSP UMA-16", pattern: "stereo", highPass: "off"),
    ]
    static let hasJconvolver = access("/usr/bin/jconvolver", X_OK) == 0

    /// A preset of the test's own, with noise for its microphones, an export of it, and what `pinna render` makes of it.
    struct Exported {
      let home: PinnaHome
      let configuration: String
      let microphones: [String]
      let reference: AudioClip

      /// - Parameters:
      ///   - rates: of the export, in hertz.
      ///   - rate: of the noise.
      init(_ format: String, _ one: Case, rates: [Int] = [48000], at rate: Int = 48000) throws {
        home = try PinnaHome()
        try home.folder.write(
          """
          title: Test
          device: \(one.device)
          dataSource: \(one.dataSource)
          polarPattern: \(one.pattern)
          inputOrientation: portrait
          gain: -4.5
          highPass: \(one.highPass)
          """, to: "config/pinna/exported.yaml")
        // With a blank, which every format has to quote.
        let folder = home.folder.path + "/ex port"
        let exported = try home.pinna(
          ["export", "--preset", "exported", "--to", format, folder, "--json"]
            + rates.flatMap { ["--sample-rate", "\($0)"] })
        try #require(exported.status == 0, "\(exported)")
        let command = try #require(try exported.json()["command"] as? String)
        let words = command.split(separator: "'")
        try #require(words.count > 1, "\(command)")
        configuration = String(words[1])
        let description = try JSONSerialization.jsonObject(
          with: Data(contentsOf: URL(filePath: folder + "/filters.json")))
        microphones = try #require((description as? [String: Any])?["microphones"] as? [String])
        var random = SeededNoise(seed: 16)
        let channels = microphones.map { _ in random.samples(96_000, amplitude: 0.25) }
        try AudioClip(sampleRate: rate, channels: channels).write(wav: home.folder.path + "/in.wav")
        let rendered = home.folder.path + "/rendered.wav"
        let outcome = try home.pinna(
          "render", "--force", "--preset", "exported", home.folder.path + "/in.wav", rendered)
        try #require(outcome.status == 0, "\(outcome)")
        reference = try AudioClip(path: rendered)
      }

      /// Plays the noise into `sinks`, and expects the reference from `sources`.
      func expectSame(
        _ sinks: [String], _ sources: [String], _ environment: [String: String], freewheels: Bool
      )
        throws
      {
        // A mono pattern feeds both outputs.
        try ExportLiveTests.expectSame(
          home, sinks, sources, environment, [reference.channels.first!, reference.channels.last!],
          freewheels: freewheels)
      }
    }

    /// Plays in.wav of the home into `sinks`, with the environment's libjack, and expects what `sources` play to be as
    /// `expected`, at the delay that fits best, within −100 dB of its RMS.
    static func expectSame(
      _ home: PinnaHome, _ sinks: [String], _ sources: [String], _ environment: [String: String],
      _ expected: [[Float]], freewheels: Bool
    ) throws {
      let folder = home.folder.path
      let outcome = try Program.run(
        try PinnaHome.built("signal-loop"),
        (freewheels ? ["--freewheel"] : []) + [folder + "/in.wav", folder + "/out.wav"] + sinks + ["--"]
          + sources, environment: environment, seconds: 120)
      try #require(outcome.status == 0, "signal-loop: \(outcome)")
      let recorded = try AudioClip(path: folder + "/out.wav")
      // What was played follows what was recorded.
      try #require(recorded.channels.count >= expected.count)
      for ((expected, actual), source) in zip(zip(expected, recorded.channels), sources) {
        let delay = bestDelay(of: expected, in: actual)
        let residual = errorLevel(Array(actual[delay..<delay + expected.count]), expected)
        print("\(source), \(recorded.sampleRate) Hz: \(residual) dB at a delay of \(delay) frames")
        #expect(residual < -100, "\(source)")
      }
    }

    /// Runs jconvolver in a server of its own, and calls `body` with an environment for programs of its graph.
    private func withJconvolver(
      _ home: PinnaHome, _ configuration: String, awaiting port: String,
      _ body: ([String: String]) throws -> Void
    ) throws {
      let server = try PrivateServer(name: LiveGraph.uniqueName(), period: 256)
      let environment = home.environment.merging(["JACK_DEFAULT_SERVER": server.name]) { $1 }
      // Joins first and stays: a client that joins while the probe of `PrivateServer` leaves can stop the graph.
      let conductor = try JackConnection(name: "conductor", server: server.name)
      defer { conductor.close() }
      StaleClients.flush(server: server.name)
      let program = try Program("/usr/bin/jconvolver", [configuration], environment: environment)
      defer { program.stop() }
      guard waitUntil(seconds: 10, { conductor.hasPort("jconvolver:\(port)") }) else {
        throw SupportError("jconvolver does not join: \(program.outputText)\(program.errorText)")
      }
      try body(environment)
    }

    @Test(
      "jconvolver", .enabled(if: hasJconvolver, "jconvolver is not installed"), arguments: cases)
    func jconvolver(one: Case) throws {
      let exported = try Exported("jconvolver", one)
      try withJconvolver(exported.home, exported.configuration, awaiting: "out_right") {
        try exported.expectSame(
          exported.microphones.map { "jconvolver:\($0)" }, ["jconvolver:out_left", "jconvolver:out_right"],
          $0,
          freewheels: true)
      }
    }

    /// The feeds of a preset, noise for the microphones of as many as the program has inputs for, and what `pinna render`
    /// makes of it.
    private func exportFeeds(_ format: String, copies: Int) throws -> (
      home: PinnaHome, configuration: String, expected: [[Float]]
    ) {
      let home = try PinnaHome()
      let preset = try home.folder.write(PresetTexts.table, to: "config/pinna/table.yaml")
      let exported = try home.pinna(
        "export", "--preset", "table", "--to", format, home.folder.path + "/ex port", "--json")
      try #require(exported.status == 0, "\(exported)")
      let channels = SeededNoise.channels(4, 96_000, amplitude: 0.25, seed: 39)
      let (input, noise) = (home.folder.path + "/mics.wav", home.folder.path + "/in.wav")
      try AudioClip(sampleRate: 48000, channels: channels).write(wav: input)
      try AudioClip(sampleRate: 48000, channels: (0..<copies).flatMap { _ in channels }).write(wav: noise)
      let folder = home.folder.path + "/rendered"
      let rendered = try home.pinna(
        "render", "--force", "--preset", "table", "--feeds", preset, "--into", folder, input)
      try #require(rendered.status == 0, "\(rendered)")
      let expected = try ["main", "anna", "room", "low"].flatMap {
        try AudioClip(path: "\(folder)/\($0).wav").channels
      }
      return (home, home.folder.path + "/ex port/feeds.conf", expected)
    }

    private static let microphones = ["front-left-up", "front-right-down", "back-left-down", "back-right-up"]

    @Test(
      "jconvolver plays all feeds of a preset at once, on ports called like theirs",
      .enabled(if: hasJconvolver, "jconvolver is not installed"))
    func jconvolverFeeds() throws {
      let (home, configuration, expected) = try exportFeeds("jconvolver", copies: 1)
      let ports = ["out_left", "out_right", "anna", "room_w", "room_y", "room_z", "room_x", "low"]
      try withJconvolver(home, configuration, awaiting: "low") {
        try Self.expectSame(
          home, Self.microphones.map { "jconvolver:\($0)" }, ports.map { "jconvolver:\($0)" }, $0, expected,
          freewheels: true)
      }
    }

    @Test(
      "PipeWire's filter-chains play all feeds of a preset at once, each as a microphone of its own",
      .enabled(
        if: PipeWireGraph.isPossible, "PipeWire, pipewire-jack, WirePlumber or dbus-daemon is missing"))
    func pipeWireFeeds() throws {
      let (home, configuration, expected) = try exportFeeds("pipewire", copies: 4)
      let graph = try PipeWireGraph(home)
      let program = try graph.start("/usr/bin/pipewire", ["-c", configuration])
      defer { program.stop() }
      let sinks = ["main", "anna", "room", "low"].flatMap { feed in
        (0..<4).map { "Core Sound TetraMic, \(feed), microphones:input_AUX\($0)" }
      }
      let sources = [
        "main:capture_FL", "main:capture_FR", "anna:capture_MONO", "room:capture_AUX0", "room:capture_AUX1",
        "room:capture_AUX2", "room:capture_AUX3", "low:capture_MONO",
      ].map { "Core Sound TetraMic, \($0)" }
      try Self.expectSame(home, sinks, sources, graph.jackEnvironment, expected, freewheels: false)
    }

    @Test(
      "PipeWire's filter-chain, also where mixers are cascaded",
      .enabled(
        if: PipeWireGraph.isPossible, "PipeWire, pipewire-jack, WirePlumber or dbus-daemon is missing"),
      arguments: cases)
    func pipeWire(one: Case) throws {
      let exported = try Exported("pipewire", one)
      let graph = try PipeWireGraph(exported.home)
      let program = try graph.start("/usr/bin/pipewire", ["-c", exported.configuration])
      defer { program.stop() }
      try exported.expectSame(
        exported.microphones.indices.map { "\(one.title), microphones:input_AUX\($0)" },
        ["\(one.title), \(one.pattern):capture_FL", "\(one.title), \(one.pattern):capture_FR"],
        graph.jackEnvironment, freewheels: false)
    }

    private static let uma8 = Case(device: "uma8", title: "miniDSP UMA-8", pattern: "stereo", highPass: "80")

    @Test(
      "of filters for several rates, PipeWire takes those of the graph's rate", .nightly,
      .enabled(
        if: PipeWireGraph.isPossible, "PipeWire, pipewire-jack, WirePlumber or dbus-daemon is missing"),
      arguments: [44100, 48000])
    func pipeWireRates(rate: Int) throws {
      let exported = try Exported("pipewire", Self.uma8, rates: [48000, 44100], at: rate)
      let graph = try PipeWireGraph(exported.home, rate: rate)
      let program = try graph.start("/usr/bin/pipewire", ["-c", exported.configuration])
      defer { program.stop() }
      try check(exported, graph)
    }

    @Test(
      "the filter of WirePlumber's fragment plays what Pinna plays, in a filter-chain by itself",
      .enabled(
        if: PipeWireGraph.isPossible, "PipeWire, pipewire-jack, WirePlumber or dbus-daemon is missing"),
      .enabled(if: SPAJSON.isPossible, "spa-json-dump is not installed"))
    func wirePlumber() throws {
      let exported = try Exported("wireplumber", Self.uma8)
      let rules = try #require(
        try SPAJSON.read(exported.configuration)["node.software-dsp.rules"] as? [[String: Any]])
      let actions = try #require(rules[0]["actions"] as? [String: [String: Any]])
      let graph = try JSONSerialization.data(
        withJSONObject: try #require(actions["create-filter"]?["filter-graph"]),
        options: .withoutEscapingSlashes)
      // The modules of WirePlumber's own configuration.
      let text = """
        context.spa-libs = { audio.convert.* = audioconvert/libspa-audioconvert support.* = support/libspa-support }
        context.modules = [
          { name = libpipewire-module-rt args = { nice.level = -11 } flags = [ ifexists nofail ] }
          { name = libpipewire-module-protocol-native }
          { name = libpipewire-module-client-node }
          { name = libpipewire-module-adapter }
          { name = libpipewire-module-filter-chain args = \(String(decoding: graph, as: UTF8.self)) }
        ]
        """
      let path = try exported.home.folder.write(text, to: "chain.conf")
      let server = try PipeWireGraph(exported.home)
      let program = try server.start("/usr/bin/pipewire", ["-c", path])
      defer { program.stop() }
      try check(exported, server)
    }

    @Test(
      "WirePlumber makes the filter of its fragment for the card's node, and it plays what Pinna plays",
      .enabled(
        if: PipeWireGraph.isPossible, "PipeWire, pipewire-jack, WirePlumber or dbus-daemon is missing"),
      .enabled(if: PipeWireGraph.takesFragments, "WirePlumber is older than 0.5"), arguments: [44100, 48000])
    func fragment(rate: Int) throws {
      let exported = try Exported("wireplumber", Self.uma8, rates: [48000, 44100], at: rate)
      // WirePlumber lets no other program connect to a hidden node.
      let text = try String(contentsOfFile: exported.configuration, encoding: .utf8)
        .replacing("hide-parent = true", with: "hide-parent = false")
      try exported.home.folder.write(text, to: "config/wireplumber/wireplumber.conf.d/50-pinna.conf")
      let graph = try PipeWireGraph(exported.home, rate: rate)
      // In place of the card's node.
      let channels = (0..<8).map { "AUX\($0)" }.joined(separator: " ")
      let card = try graph.start(
        "/usr/bin/pw-cli",
        [
          "create-node", "adapter",
          "{ factory.name=support.null-audio-sink node.name=alsa_input.pinna-uma8.pro-input-0 node.description=card "
            + "media.class=Audio/Source/Virtual object.linger=true audio.position=[\(channels)] "
            + "adapter.auto-port-config={ mode=dsp monitor=true position=preserve } }",
        ])
      #expect(card.wait(seconds: 10)?.status == 0, "\(card.errorText)")
      try check(exported, graph, sink: "card")
    }

    /// Plays and records through the running filter-chain of `uma8`, and looks at the latency that it reports.
    private func check(
      _ exported: Exported, _ graph: PipeWireGraph, sink: String = uma8.title + ", microphones"
    ) throws {
      let source = "\(Self.uma8.title), \(Self.uma8.pattern)"
      try exported.expectSame(
        exported.microphones.indices.map { "\(sink):input_AUX\($0)" },
        ["\(source):capture_FL", "\(source):capture_FR"], graph.jackEnvironment, freewheels: false)
      // It reports a latency while somebody records, from 1.6 on.
      let recorder = try graph.start(
        "/usr/bin/pw-record",
        ["--target", "pinna-uma8-front-stereo-portrait", exported.home.folder.path + "/more.wav"])
      defer { recorder.stop() }
      let frames = PipeWireGraph.reportsLatency ? exported.reference.sampleRate == 44100 ? 59 : 64 : 0
      var listing = ""
      let isReported = try waitUntil(seconds: 10) {
        listing = try Program.run(
          "/usr/bin/jack_lsp", ["-c", "-l", source], environment: graph.jackEnvironment
        )
        .output
        return listing.split(separator: "\n").count {
          $0.contains("capture latency = [ \(frames) \(frames) ]")
        } == 2
          && listing.contains("pw-record")
      }
      #expect(isReported, "\(frames) frames: \(listing)")
    }
  }
}

/// A PipeWire of the test's own, with a session manager and without sound cards. Its driver is the dummy one.
final class PipeWireGraph {
  static let library = "/usr/lib/x86_64-linux-gnu/pipewire-0.3/jack"
  static let isPossible = [
    "/usr/bin/pipewire", "/usr/bin/wireplumber", "/usr/bin/dbus-daemon", library + "/libjack.so.0",
  ].allSatisfy(FileManager.default.isReadableFile)

  /// Whether WirePlumber is 0.5 or newer.
  static let takesFragments = access("/usr/share/wireplumber/main.lua.d", F_OK) != 0
  /// Whether filter-chains report the latency that their configuration names: from 1.6 on.
  static let reportsLatency: Bool = {
    let text = (try? Program.run("/usr/bin/pipewire", ["--version"]).output) ?? ""
    guard let (_, major, minor) = text.firstMatch(of: /libpipewire ([0-9]+)\.([0-9]+)/)?.output else {
      return false
    }
    return (Int(major)!, Int(minor)!) >= (1, 6)
  }()

  private let environment: [String: String]
  private var programs: [Program] = []

  /// - Parameter rate: its sample rate in hertz.
  init(_ home: PinnaHome, rate: Int = 48000) throws {
    try home.folder.write(
      "context.properties = { default.clock.rate = \(rate) default.clock.allowed-rates = [ \(rate) ] }\n",
      to: "config/pipewire/pipewire.conf.d/rate.conf")
    let bus = "unix:path=\(home.runtimeFolder)/bus"
    environment = home.environment.filter { !$0.key.hasPrefix("PIPEWIRE") }
      .merging(["HOME": home.folder.path, "DBUS_SESSION_BUS_ADDRESS": bus]) { $1 }
    // WirePlumber ends without a session bus. `dbus-run-session` would leave it running.
    for (socket, path, words) in [
      ("bus", "/usr/bin/dbus-daemon", ["--session", "--nofork", "--address=\(bus)"]),
      ("pipewire-0", "/usr/bin/pipewire", []),
    ] {
      programs.append(try start(path, words))
      guard waitUntil(seconds: 5, { access(home.runtimeFolder + "/" + socket, F_OK) == 0 }) else {
        throw SupportError("\(path) does not start: \(programs.last!.errorText)")
      }
    }
    programs.append(try start("/usr/bin/wireplumber", []))
  }

  deinit { for program in programs.reversed() { program.stop() } }

  func start(_ path: String, _ words: [String]) throws -> Program {
    try Program(path, words, environment: environment)
  }

  /// For JACK programs: PipeWire's libjack, and a period that a busy machine keeps.
  var jackEnvironment: [String: String] {
    environment.merging(["LD_LIBRARY_PATH": Self.library, "PIPEWIRE_LATENCY": "2048/48000"]) { $1 }
  }
}
