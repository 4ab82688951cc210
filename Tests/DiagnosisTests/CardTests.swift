import Detection
import Diagnosis
import Foundation
import Presets
import TestSupport
import Testing

@Suite("what pinna doctor finds about sound cards in PipeWire") struct CardTests {
  /// Card 1 of the tree is a UMA-8 with raw microphones, card 0 a laptop's.
  static func cards() throws -> [DetectedCard] {
    let folder = try SoundCards.folder("uma8-raw")
    let folders = SystemFolders(
      asound: folder + "/asound", sysfs: folder + "/sysfs", alsaState: folder + "/alsa")
    let library = PresetLibrary.standard
    return DetectedCard.list(
      in: folders, among: try library.deviceNames().map { try library.device(named: $0) })
  }

  /// As `pw-dump` prints it, shortened.
  static func dump(card: Int = 1, profile: String) throws -> PipeWireDump {
    let text = """
      [ { "id": 0, "type": "PipeWire:Interface:Core", "info": { "props": { "core.name": "pipewire-0" } } },
        { "id": 30, "type": "PipeWire:Interface:Metadata" },
        { "id": 46, "type": "PipeWire:Interface:Device", "info": {
            "props": { "media.class": "Audio/Device", "api.alsa.card": \(card), "device.description": "micArray RAW SPK" },
            "params": {
              "EnumProfile": [
                { "index": 0, "name": "off", "description": "Off" },
                { "index": 3, "name": "input:analog-stereo", "description": "Analog Stereo Input" },
                { "index": 9, "name": "pro-audio", "description": "Pro Audio" } ],
              "Profile": [ { "index": 3, "name": "\(profile)", "description": "The profile" } ] } } },
        { "id": 51, "type": "PipeWire:Interface:Node", "info": {
            "props": { "media.class": "Audio/Source", "node.name": "alsa_input.usb" } } } ]
      """
    return try #require(PipeWireDump(Data(text.utf8)))
  }

  @Test(
    "an array with another profile than Pro Audio is a warning with wpctl's command",
    arguments: [
      ("input:analog-stereo", "reorder"), ("off", "no ports"), ("output:analog-stereo", "no ports"),
      ("HiFi (Headphones, Mic1)", "reorder"), ("output:analog-stereo+input:analog-stereo", "reorder"),
    ])
  func remapped(profile: String, reason: String) throws {
    let findings = try Self.dump(profile: profile).findings(Self.cards())
    let finding = try #require(findings.first)
    #expect(findings.count == 1 && finding.mark == .warning, "\(findings)")
    #expect(
      finding.remedy == "wpctl set-profile 46 9" && finding.reason?.contains(reason) == true, "\(finding)")
  }

  @Test("an array with the profile Pro Audio is well")
  func raw() throws {
    #expect(try Self.dump(profile: "pro-audio").findings(Self.cards()).map(\.mark) == [.ok])
  }

  @Test("an array that PipeWire does not show is a warning")
  func hidden() throws {
    let finding = try #require(try Self.dump(card: 5, profile: "pro-audio").findings(Self.cards()).first)
    #expect(finding.mark == .warning && finding.found.contains("does not show"), "\(finding)")
  }

  @Test("fields of other types and other kinds of objects are left out")
  func lenient() throws {
    let text = """
      [ { "id": "1", "info": 7 }, { "info": { "props": [] } }, { "id": 2, "info": { "props": { "node.name": "x" } } },
        { "id": 3.5, "info": { "props": { "media.class": "Audio/Sink", "node.name": "sink", "other": {"a": [null]} } } },
        { "id": 4, "info": { "params": [], "props": {
            "media.class": "Audio/Device", "device.description": 5, "device.nick": "nick", "alsa.card": "2" } } },
        { "id": 5, "info": { "props": { "media.class": "Audio/Device", "alsa.card": 3, "api.alsa.card": null },
            "params": { "EnumProfile": [ { "index": 1 }, { "name": "off", "index": "1" } ], "Profile": [ 1 ] } } } ]
      """
    let dump = try #require(PipeWireDump(Data(text.utf8)))
    #expect(dump.nodes == ["0 Audio/Sink sink"])
    #expect(dump.cards.map(\.id) == [4, 5])
    #expect(dump.cards.map(\.description) == ["nick", "device 5"])
    #expect(dump.cards.map(\.index) == [2, nil])
    #expect(dump.cards[1].profiles.map { "\($0.index) \($0.name) \($0.description)" } == ["0 off off"])
    #expect(dump.cards.allSatisfy { $0.active == nil })
    #expect(PipeWireDump(Data("[1]".utf8)) == nil)
  }

  @Test("what is not pw-dump's output is refused, and its nodes are listed")
  func parse() throws {
    #expect(PipeWireDump(Data("no json".utf8)) == nil && PipeWireDump(Data("{}".utf8)) == nil)
    #expect(try Self.dump(profile: "off").nodes == ["51 Audio/Source alsa_input.usb"])
    #expect(try #require(PipeWireDump(Data("[]".utf8))).findings([]).map(\.mark) == [.ok])
  }
}
