import Acoustics
import Presets
import TestSupport
import Testing

/// Which capture port each microphone is connected to by `run --connect`.
@Suite("Capture wiring") struct CaptureWiringTests {
  static func device(_ name: String) throws -> Device {
    try PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(named: name)
  }

  static func ports(_ client: String, _ count: Int, alias: (Int) -> String? = { _ in nil }) -> [CapturePort] {
    (1...count).map {
      CapturePort(name: "\(client):capture_\($0)", aliases: alias($0).map { [$0] } ?? [])
    }
  }

  static func wiring(_ device: String, _ ports: [CapturePort]) throws -> [String?] {
    try Self.device(device).captureWiring(from: ports).map { $0?.name }
  }

  @Test("a device without hardware takes all ports in order, as far as there are any")
  func noHardware() throws {
    let ports = Self.ports("system", 2) + Self.ports("UMA16v2", 2)
    #expect(
      try Self.wiring("phone5", ports) == [
        "system:capture_1", "system:capture_2", "UMA16v2:capture_1", "UMA16v2:capture_2", nil,
      ])
    #expect(try Self.wiring("phone2", []) == [nil, nil])
  }

  @Test("microphones are on the channels of the product, not in the order of the file")
  func channels() throws {
    let ports = Self.ports("system", 6) { "alsa_pcm:hw:ArrayUAC10:out\($0)" }
    #expect(
      try Self.wiring("respeaker-usb-v2", ports)
        == ["system:capture_2", "system:capture_3", "system:capture_4", "system:capture_5"])
  }

  @Test("the client whose name or alias contains the card is the product, whatever else is there")
  func byName() throws {
    let webcam = Self.ports("HD Pro Webcam", 6)
    let named = Self.ports("ReSpeaker 4 Mic Array (UAC1.0) Pro", 6)
    #expect(
      try Self.wiring("respeaker-usb-v2", webcam + named).first
        == "ReSpeaker 4 Mic Array (UAC1.0) Pro:capture_2")
    let aliased = Self.ports("system", 6) { "alsa_pcm:hw:arrayuac10:out\($0)" }
    #expect(try Self.wiring("respeaker-usb-v2", webcam + aliased).first == "system:capture_2")
  }

  @Test("of two equal products the first is taken, and none of the other's ports")
  func twoAlike() throws {
    let both = Self.ports("ArrayUAC10", 6) + Self.ports("ArrayUAC10-2", 6)
    #expect(try Self.wiring("respeaker-usb-v2", both).last == "ArrayUAC10:capture_5")
  }

  @Test("without a name, the only client with the hardware's number of channels is the product")
  func byCount() throws {
    let ports = Self.ports("HDA Intel", 2) + Self.ports("system", 6)
    #expect(try Self.wiring("respeaker-usb-v2", ports).first == "system:capture_2")
    // Two such clients decide nothing.
    #expect(
      try Self.wiring("respeaker-usb-v2", ports + Self.ports("other", 6))
        == ["HDA Intel:capture_2", "system:capture_1", "system:capture_2", "system:capture_3"])
  }

  @Test("a microphone whose channel the product's client lacks is left unconnected")
  func missing() throws {
    let ports = Self.ports("ArrayUAC10", 3) + Self.ports("system", 8)
    #expect(
      try Self.wiring("respeaker-usb-v2", ports) == [
        "ArrayUAC10:capture_2", "ArrayUAC10:capture_3", nil, nil,
      ])
  }
}
