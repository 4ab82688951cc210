import Foundation
import LiveSupport
import Messages
import TestSupport
import Testing

extension OfflineTests {
  /// What ships and is documented for OSC over UDP.
  @Suite("Control surfaces and other programs") struct ControlSurfaceTests {
    /// A widget that sends, with what it would send.
    struct Widget {
      let address: String
      let arguments: [OSCMessage.Argument]
    }

    /// The widgets of an Open Stage Control session that have an address.
    static func widgets(token: String) throws -> [Widget] {
      let path = repositoryFolder + "/share/control-surfaces/pinna-open-stage-control.json"
      let session = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path)))
      let root = try #require((session as? [String: Any])?["content"] as? [String: Any])
      var found: [Widget] = []
      func search(_ widget: [String: Any]) {
        if let address = widget["address"] as? String {
          found.append(Widget(address: address, arguments: arguments(of: widget, token)))
        }
        for child in widget["widgets"] as? [[String: Any]] ?? [] { search(child) }
      }
      search(root)
      return found
    }

    private static func arguments(of widget: [String: Any], _ token: String) -> [OSCMessage.Argument] {
      func argument(_ value: Any?) -> OSCMessage.Argument {
        (value as? String).map { .string($0) } ?? .float((value as? NSNumber)?.floatValue ?? 0)
      }
      switch (widget["type"] as? String, widget["id"] as? String) {
      case ("input", "token"): return [.string(token)]
      case ("input", _): return [.string("phone5")]
      case ("fader", _): return [.float(-6)]
      case ("button", _): return [argument(widget["on"])]
      case ("switch", _):
        if let values = widget["values"] as? [Any] { return [argument(values.first)] }
        return [argument((widget["values"] as? [String: Any])?.values.first)]
      default: return []
      }
    }

    @Test("every address of the Open Stage Control session is answered with status 0, or 5 during a take")
    func openStageControl() throws {
      let graph = try UDPTests.graph()
      let sender = try graph.udpSender()
      let widgets = try Self.widgets(token: try graph.oscToken())
      #expect(Set(widgets.map(\.address)).count >= 11)
      for widget in widgets {
        let answer = sender.ask(widget.address, widget.arguments, seconds: 20)
        #expect([.done, .refused].contains(answer?.status), "\(widget): \(answer as Any)")
      }
      // Nothing but the running take refused anything.
      #expect(sender.ask("/pinna/record", [.integer(0)], seconds: 20)?.status == .done)
      for widget in widgets where widget.address != "/pinna/record" {
        #expect(sender.ask(widget.address, widget.arguments, seconds: 20)?.status == .done, "\(widget)")
      }
    }

    /// A Python with python-osc: that of PINNA_PYTHON, or the system's.
    static let python: String? = {
      let candidates = [ProcessInfo.processInfo.environment["PINNA_PYTHON"], "/usr/bin/python3"]
      return candidates.compactMap { $0 }.first {
        (try? Program.run($0, ["-c", "import pythonosc"]))?.status == 0
      }
    }()

    @Test(
      "the Python example of the documentation sets the gain, subscribes, and receives a change by the command line",
      .enabled(if: python != nil, "no Python can import pythonosc; set PINNA_PYTHON to one that can"))
    func example() throws {
      let graph = try UDPTests.graph()
      let page = try String(contentsOfFile: repositoryFolder + "/docs/control.md", encoding: .utf8)
      let code = try #require(page.firstMatch(of: #/```python\n([\s\S]*?)```/#)).output.1
      #expect(code.split(separator: "\n").count <= 12)
      let port = "\(try #require(graph.oscPort))"
      let script = try graph.home.folder.write(String(code).replacing("9000", with: port), to: "example.py")
      let python = try Program(try #require(Self.python), [script], environment: graph.home.environment)
      #expect(
        try waitUntil(seconds: 10, every: 50) { try graph.status()["gainDB"] as? Double == -6 },
        "\(python.errorText)")
      #expect(try graph.pinna("set", "--gain", "-3").status == 0)
      let outcome = try #require(python.wait(seconds: 20), "the example does not end")
      #expect(outcome.status == 0, "\(outcome)")
      #expect(outcome.output.contains("/pinna/set/gain -6.0\n"), "\(outcome)")
      #expect(outcome.output.contains("/pinna/set/gain -3.0\n"), "\(outcome)")
    }
  }
}
