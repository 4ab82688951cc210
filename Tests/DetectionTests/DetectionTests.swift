import Acoustics
import Detection
import Foundation
import Presets
import TestSupport
import Testing

/// Recorded trees of `/proc/asound` and sysfs; `Tests/SoundCards/README.md` says where they come from.
@Suite("Detection of sound cards") struct DetectionTests {
  static let devices = try! {
    let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])
    return try library.deviceNames().map { try library.device(named: $0) }
  }()

  static func folders(_ tree: String) -> SystemFolders {
    let folder = try! SoundCards.folder(tree)
    return SystemFolders(asound: folder + "/asound", sysfs: folder + "/sysfs", alsaState: folder + "/alsa")
  }

  static func cards(_ tree: String) -> [DetectedCard] {
    DetectedCard.list(in: folders(tree), among: devices)
  }

  /// The matches of all cards: "uma8 certain".
  static func matches(_ tree: String) -> [String] {
    cards(tree).flatMap(\.matches).map { "\($0.device.name) \($0.certainty.rawValue)" }
  }

  @Test(
    "a product is recognised by its USB ID, or else by its card's name",
    arguments: [
      ("uma8-raw", ["uma8 certain"]), ("uma8-dsp", ["uma8 certain"]),
      ("respeaker-6", ["respeaker-usb-v2 certain"]), ("respeaker-1", ["respeaker-usb-v2 certain"]),
      ("uma16", ["uma16 likely"]), ("ps-eye", ["ps-eye certain"]), ("kinect", ["kinect-v1 certain"]),
      ("two", ["uma8 certain", "ps-eye certain"]), ("none", []), ("no-cards", []), ("webcam", []),
      ("laptop", []),
    ])
  func products(tree: String, expected: [String]) {
    #expect(Self.matches(tree) == expected)
  }

  @Test("products that share a card's name are all named, for the user to choose from")
  func sharedName() throws {
    #expect(Self.matches("matrix") == ["matrix-creator likely", "matrix-voice likely"])
    let error = #expect(throws: NoSingleDevice.self) { try Self.cards("matrix").onlyDevice() }
    #expect(
      try #require(error).description
        == "several devices fit: matrix-creator, matrix-voice; choose one with --device NAME")
  }

  @Test("microphones without a card of their own are candidates on a card that nothing else matches")
  func candidates() throws {
    #expect(
      Self.matches("interface") == ["ambeo-vr candidate", "h3-vr candidate", "tetramic candidate"])
    let error = #expect(throws: NoSingleDevice.self) { try Self.cards("interface").onlyDevice() }
    #expect(try #require(error).description.contains("ambeo-vr, h3-vr, tetramic may be"))
    // As many channels first, or else more; never at rates that the microphone does not have.
    func names(_ channels: Int, _ rates: [Int]) -> [String] {
      let card = SoundCard(
        index: 0, id: "X", driver: "USB-Audio", name: "Interface",
        formats: [CaptureFormat(channels: channels, rates: .list(rates))])
      return DetectedCard(card, among: Self.devices).matches.map(\.device.name)
    }
    #expect(names(32, [48000]) == ["em32"])
    #expect(names(18, [44100, 48000]) == ["ambeo-vr", "h3-vr", "tetramic"])
    #expect(names(4, [8000]).isEmpty && names(2, [48000]).isEmpty)
  }

  @Test("firmware that sends processed sound is an obstacle with its remedy; raw firmware is none")
  func firmware() throws {
    for (raw, processed, word) in [
      ("uma8-raw", "uma8-dsp", "micArray_vf_raw"), ("respeaker-6", "respeaker-1", "6_channels_firmware.bin"),
    ] {
      let good = try #require(Self.cards(raw).flatMap(\.matches).first)
      #expect(good.obstacle == nil && good.isUsable)
      let bad = try #require(Self.cards(processed).flatMap(\.matches).first)
      #expect(try #require(bad.obstacle).contains(word) && !bad.isUsable)
      let error = #expect(throws: NoSingleDevice.self) { try Self.cards(processed).onlyDevice() }
      #expect(try #require(error).description.contains(word))
    }
  }

  @Test("a card with too few channels and an unknown firmware is an obstacle, too")
  func tooFewChannels() throws {
    let card = SoundCard(
      index: 1, id: "UMA16v2", driver: "USB-Audio", name: "UMA16v2",
      formats: [CaptureFormat(channels: 2, rates: .list([48000]))])
    let match = try #require(DetectedCard(card, among: Self.devices).matches.first)
    #expect(try #require(match.obstacle).hasPrefix("it sends 2 channels, but its microphones need 16;"))
  }

  @Test("channels, rates, serial number and names are read")
  func fields() throws {
    let uma = try #require(Self.cards("uma16").last?.card)
    #expect(uma.index == 1 && uma.id == "UMA16v2" && uma.driver == "USB-Audio" && uma.serial == "00026")
    #expect(uma.longName == "miniDSP UMA16v2 at usb-0000:00:14.0-4, high speed")
    #expect(uma.channels == 16)
    let kinect = try #require(Self.cards("kinect").last)
    #expect(kinect.card.serial == "A00364A11834041A" && kinect.card.usb == "045e:02bb")
    // Playback's two channels are not capture channels.
    #expect(kinect.card.formats == [CaptureFormat(channels: 4, rates: .list([16000]))])
    #expect(kinect.matches[0].rates == [16000] && kinect.matches[0].rate == 16000)
    #expect(Self.cards("matrix").allSatisfy { $0.card.channels == nil && $0.card.usb == nil })
    #expect(Self.cards("uma8-raw").map(\.card.serial) == [nil, nil])
    #expect(try #require(Self.cards("uma8-raw").last).matches[0].rate == 48000)
  }

  @Test("every altset of a capture interface is a format, and a continuous range of rates is one")
  func altsets() {
    let text = """
      X at usb-1, high speed : USB Audio

      Capture:
        Status: Running
          Interface = 1
          Altset = 1
          Momentary freq = 48000 Hz (0x6.0000)
        Interface 1
          Altset 1
          Format: S16_LE
          Channels: 2
          Endpoint: 1 IN (ASYNC)
          Rates: 8000 - 48000 (continuous)
        Interface 1
          Altset 2
          Format: S24_3LE
          Channels: 8
          Endpoint: 1 IN (ASYNC)
          Rates: 48000, 96000
        Interface 1
          Altset 3
          Channels: 9999
          Rates: 48000
        Interface 1
          Altset 4
          Channels: 4
          Rates: 1, banana

      Playback:
        Interface 2
          Channels: 6
          Rates: 44100
      """
    #expect(
      CaptureFormat.formats(inStream: text.split(separator: "\n")) == [
        CaptureFormat(channels: 2, rates: .range(8000...48000)),
        CaptureFormat(channels: 8, rates: .list([48000, 96000])),
      ])
  }

  @Test("capture channels are counted as the product counts them")
  func channels() throws {
    let respeaker = try #require(Self.cards("respeaker-6").last?.matches.first)
    #expect(respeaker.microphonesByChannel == [nil, "mic-1", "mic-2", "mic-3", "mic-4", nil])
    let uma8 = try #require(Self.cards("uma8-raw").last?.matches.first)
    #expect(uma8.microphonesByChannel.first == "centre" && uma8.microphonesByChannel.last == .some(nil))
  }

  @Test(
    "the firmware's description of a laptop's microphones is read as it is, without offsets that it leaves out"
  )
  func digitalMicrophones() throws {
    let microphones = try #require(Self.cards("laptop").first).card.digitalMicrophones
    #expect(
      microphones.map(\.description) == [
        "channel 0: omnidirectional, laptop-top-panel, horizontal offset -40, vertical offset 3",
        "channel 1: omnidirectional, laptop-top-panel, vertical offset 3",
      ])
    for text in ["", "{", "[]", "{\"mics\": 5}", "{\"mics\": [{\"channel\": \"x\"}]}"] {
      #expect(DigitalMicrophone.list(json: text).isEmpty, "\(text)")
    }
  }

  @Test("only one usable device is the device that is plugged in")
  func onlyDevice() throws {
    #expect(try Self.cards("uma8-raw").onlyDevice().name == "uma8")
    #expect(try Self.cards("respeaker-6").onlyDevice().name == "respeaker-usb-v2")
    for (tree, word) in [
      ("two", "several devices fit: uma8, ps-eye"), ("none", "no sound card that captures"),
      ("webcam", "only HD Pro Webcam C920; describe it with: pinna device new"),
    ] {
      let error = #expect(throws: NoSingleDevice.self) { try Self.cards(tree).onlyDevice() }
      #expect(try #require(error).description.contains(word), "\(tree)")
    }
  }

  @Test(
    "binary, endless, huge and missing files, FIFOs and folders are skipped without waiting",
    .timeLimit(.minutes(10)))
  func garbage() throws {
    let folder = try TemporaryFolder()
    var random = SystemRandomNumberGenerator()
    let noise = Data((0..<4000).map { _ in UInt8.random(in: 0...255, using: &random) })
    let cards = Data(
      """
       0 [Noise          ]: USB-Audio - Noise
                            Noise at usb-1
       1 [Fifo           ]: USB-Audio - Fifo
                            Fifo at usb-2
      17 [] : nonsense
      99999999999999999999 [X]: Y - Z
       2 [Huge           ]: USB-Audio - Huge
       3 [Gone           ]: USB-Audio - Gone
       4 [\u{1b}[31mRed   ]: USB-Audio - \u{7}Bell
       1 [Fifo           ]: USB-Audio - Twice

      """.utf8)
    try folder.write(cards + noise, to: "asound/cards")
    for index in 0...4 where index != 3 { try folder.write("", to: "asound/card\(index)/pcm0c/info") }
    try folder.write(noise, to: "asound/card0/usbid")
    try folder.write(noise, to: "asound/card0/stream0")
    for name in ["usbid", "stream0"] {
      try #require(mkfifo("\(folder.path)/asound/card1/\(name)", 0o600) == 0)
    }
    try folder.write(String(repeating: "Channels: 8\n", count: 1 << 20), to: "asound/card2/stream0")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/asound/card2/usbid", withDestinationPath: "/dev/zero")
    try folder.write("", to: "asound/card4/stream0/a-folder")
    try folder.write(noise, to: "alsa/card0.conf.d/dmics-nhlt.json")
    let start = ContinuousClock.now
    let found = SoundCard.list(
      in: SystemFolders(
        asound: folder.path + "/asound", sysfs: folder.path + "/sysfs", alsaState: folder.path + "/alsa"))
    #expect(ContinuousClock.now - start < .seconds(5))
    #expect(found.map(\.index) == [0, 1, 2, 4])
    #expect(found.allSatisfy { $0.usb == nil && $0.serial == nil && $0.formats.isEmpty })
    #expect(found.allSatisfy { !($0.id + $0.name).unicodeScalars.contains { $0.value < 32 } })
    for path in ["/dev/zero", folder.path, folder.path + "/nothing", ""] {
      #expect(SystemFile.text(path) == nil)
      let list = SoundCard.list(in: SystemFolders(asound: path, sysfs: path, alsaState: path))
      #expect(list.isEmpty)
    }
  }

  /// The ports of a recorded graph.
  struct Recorded: CaptureGraph {
    let ports: [CapturePort]
    func capturePorts() throws -> [CapturePort] { ports }
  }

  @Test("the clients of a graph are listed with their capture ports, in its order")
  func clients() throws {
    let names = ["system:capture_1", "a:b:capture_AUX0", "system:capture_2", "a:b:capture_AUX1"]
    let clients = try CaptureClient.list(of: Recorded(ports: names.map { CapturePort(name: $0) }))
    #expect(clients.map(\.name) == ["system", "a:b"])
    #expect(clients[1].ports.map(\.name) == ["a:b:capture_AUX0", "a:b:capture_AUX1"])
  }

  @Test("a port that a server lists under several names counts once, whichever comes first")
  func aliases() throws {
    let ports = [
      CapturePort(name: "system:capture_1", aliases: ["alsa_pcm:hw:SPK:out1"]),
      CapturePort(name: "alsa_pcm:hw:SPK:out1", aliases: ["system:capture_1"]),
      CapturePort(name: "system:capture_2", aliases: ["alsa_pcm:hw:SPK:out2"]),
      CapturePort(name: "alsa_pcm:hw:SPK:out2"),
      CapturePort(name: "system:capture_2", aliases: ["alsa_pcm:hw:SPK:out2"]),
    ]
    for order in [ports, ports.reversed()] {
      let clients = try CaptureClient.list(of: Recorded(ports: order))
      #expect(clients.reduce(0) { $0 + $1.ports.count } == 2, "\(clients)")
    }
  }

  @Test("a card is started at 48 kHz, or at the nearest rate that it has with most channels")
  func startRate() {
    func rate(_ formats: [CaptureFormat]) -> Int {
      SoundCard(index: 0, id: "X", driver: "USB-Audio", name: "X", formats: formats).startRate
    }
    #expect(rate([]) == 48000)
    #expect(rate([.init(channels: 6, rates: .list([16000]))]) == 16000)
    #expect(
      rate([.init(channels: 2, rates: .list([48000])), .init(channels: 8, rates: .list([44100, 96000]))])
        == 44100)
    #expect(rate([.init(channels: 4, rates: .range(8000...32000))]) == 32000)
    #expect(rate([.init(channels: 4, rates: .range(8000...96000))]) == 48000)
  }

  @Test("the environment names other folders") func environment() {
    let folders = SystemFolders(environment: ["PINNA_PROC_ASOUND": "/a", "PINNA_SYSFS": "/b"])
    #expect(folders == SystemFolders(asound: "/a", sysfs: "/b", alsaState: "/var/lib/alsa"))
  }
}
