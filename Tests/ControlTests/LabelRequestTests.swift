import JackClient
import Testing

@Suite("Orders to the label process") struct LabelRequestTests {
  @Test("a packet decodes to the order it was made from, with or without a label, whatever its texts contain")
  func roundTrip() {
    for label in [
      nil, .control,
      PortLabel.microphone("top-left", group: "é\n", order: 3), .microphone("", group: "", order: 0),
    ] {
      let order = LabelRequest(port: .max, label: label)
      #expect(LabelRequest(packet: order.packet) == order)
    }
  }

  @Test("texts too long for a packet are truncated", arguments: [300, 100_000])
  func longTexts(count: Int) {
    let long = String(repeating: "m", count: count)
    let order = LabelRequest(port: 1, label: PortLabel.microphone(long, group: long, order: 1))
    #expect(order.packet.count < 4096)
    #expect(LabelRequest(packet: order.packet)?.label?.group == String(long.prefix(256)))
  }

  @Test(
    "a malformed order is refused",
    arguments: ["", "x", "1\0a", "1\0a\0b\0c\0d", "1\0a\0b\01\0d\0e", "1\0a\0b\01\0d", "-1"])
  func nonsense(text: String) { #expect(LabelRequest(packet: Array(text.utf8)) == nil) }
}
