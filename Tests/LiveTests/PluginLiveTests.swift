import AudioFiles
import Foundation
import JackClient
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  /// The exported plug-in in hosts of a JACK graph.
  @Suite("the LV2 plug-in in a host of the graph") struct PluginLiveTests {
    private static let hasJalv = access("/usr/bin/jalv", X_OK) == 0

    @Test(
      "jalv in freewheel plays what pinna render plays with the graph's period, bit for bit",
      .enabled(if: hasJalv, "jalv is not installed"))
    func jalv() throws {
      let home = try PinnaHome()
      let bundles = home.folder.path + "/lv2"
      let exported = try home.pinna(
        "export", "--to", "lv2", "--preset", "phone5", "--sample-rate", "48000", bundles)
      try #require(exported.status == 0, "\(exported)")
      let folder = home.folder.path
      let (input, rendered, output) = (folder + "/in.wav", folder + "/rendered.wav", folder + "/out.wav")
      try AudioClip(sampleRate: 48000, channels: SeededNoise.channels(5, 96_000, amplitude: 0.2, seed: 42))
        .write(wav: input)
      #expect(
        try home.pinna("render", "--force", "--preset", "phone5", "--period", "256", input, rendered).status
          == 0)
      let server = try PrivateServer(name: LiveGraph.uniqueName(), period: 256)
      let environment = home.environment.merging([
        "JACK_DEFAULT_SERVER": server.name, "LV2_PATH": bundles + ":/usr/lib/lv2",
      ]) { $1 }
      let conductor = try JackConnection(name: "conductor", server: server.name)
      defer { conductor.close() }
      StaleClients.flush(server: server.name)
      // It ends when its standard input does, which is its own FIFO here.
      let program = try Program(
        "/bin/sh",
        ["-c", "mkfifo \"$0\" && exec jalv -n plug urn:pinna:lv2:phone5 <>\"$0\"", folder + "/commands"],
        environment: environment)
      defer { program.stop() }
      guard waitUntil(seconds: 20, { conductor.hasPort("plug:out_right") }) else {
        throw SupportError("jalv does not join: \(program.outputText)\(program.errorText)")
      }
      let microphones = ["bottom_left", "bottom_right", "front", "back", "top"].map { "plug:" + $0 }
      let outcome = try Program.run(
        try PinnaHome.built("signal-loop"),
        ["--freewheel", input, output] + microphones + ["--", "plug:out_left", "plug:out_right"],
        environment: environment, seconds: 120)
      try #require(outcome.status == 0, "\(outcome)")
      let expected = try AudioClip(path: rendered).channels
      let played = try AudioClip(path: output).channels.prefix(2).map { Array($0.prefix(96_000)) }
      let first = zip(played, expected).compactMap { a, b in
        zip(a, b).enumerated().first { $1.0 != $1.1 }?.offset
      }.min()
      #expect(
        played.map(\.count) == expected.map(\.count) && first == nil, "differs from frame \(first ?? 0) on")
    }

    @Test(
      "PipeWire's filter-chain plays what pinna render plays",
      .enabled(
        if: PipeWireGraph.isPossible, "PipeWire, pipewire-jack, WirePlumber or dbus-daemon is missing"))
    func filterChain() throws {
      let home = try PinnaHome()
      let folder = home.folder.path
      // Hosts look there.
      let exported = try home.pinna(
        "export", "--to", "lv2", "--preset", "phone5", "--sample-rate", "48000", folder + "/.lv2")
      try #require(exported.status == 0, "\(exported)")
      let microphones = ["bottom_left", "bottom_right", "front", "back", "top"]
      let configuration = try home.folder.write(
        """
        context.spa-libs = {
            audio.convert.* = audioconvert/libspa-audioconvert
            support.*       = support/libspa-support
        }
        context.modules = [
            { name = libpipewire-module-protocol-native }
            { name = libpipewire-module-client-node }
            { name = libpipewire-module-adapter }
            { name = libpipewire-module-filter-chain
                args = {
                    audio.rate = 48000
                    filter.graph = {
                        nodes = [ { type = lv2 name = pinna plugin = "urn:pinna:lv2:phone5" label = ""
                                    control = { "gain" = -6 } } ]
                        inputs  = [ \(microphones.map { "\"pinna:\($0)\"" }.joined(separator: " ")) ]
                        outputs = [ "pinna:out_left" "pinna:out_right" ]
                    }
                    capture.props  = { node.name = pinna-in  node.description = pinna-in audio.channels = 5
                                       audio.position = [ AUX0 AUX1 AUX2 AUX3 AUX4 ] stream.dont-remix = true }
                    playback.props = { node.name = pinna-out node.description = pinna-out media.class = Audio/Source
                                       audio.channels = 2 audio.position = [ FL FR ] }
                }
            }
        ]

        """, to: "chain.conf")
      try AudioClip(sampleRate: 48000, channels: SeededNoise.channels(5, 96_000, amplitude: 0.2, seed: 43))
        .write(wav: folder + "/in.wav")
      let rendered = try home.pinna(
        "render", "--force", "--preset", "phone5", "--gain", "-6", folder + "/in.wav",
        folder + "/rendered.wav")
      try #require(rendered.status == 0, "\(rendered)")
      let graph = try PipeWireGraph(home)
      let program = try graph.start("/usr/bin/pipewire", ["-c", configuration])
      defer { program.stop() }
      try ExportLiveTests.expectSame(
        home, (0..<5).map { "pinna-in:input_AUX\($0)" }, ["pinna-out:capture_FL", "pinna-out:capture_FR"],
        graph.jackEnvironment, try AudioClip(path: folder + "/rendered.wav").channels, freewheels: false)
    }
  }
}
