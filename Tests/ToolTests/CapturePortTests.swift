import Acoustics
import Detection
import Testing
import pinna

@Suite("Capture ports in words") struct CapturePortTests {
  @Test("a port's other name stands beside it, not as a further port")
  func alias() {
    let ports = [CapturePort(name: "system:capture_1", aliases: ["alsa_pcm:hw:0:out1"])]
    let clients = Result<[CaptureClient], any Error> {
      try CaptureClient.list(of: RecordedGraph(ports: ports))
    }
    #expect(
      clients.text == "JACK: system has 1 capture port: system:capture_1 (also alsa_pcm:hw:0:out1)")
  }

  private struct RecordedGraph: CaptureGraph {
    let ports: [CapturePort]
    func capturePorts() throws -> [CapturePort] { ports }
  }
}
