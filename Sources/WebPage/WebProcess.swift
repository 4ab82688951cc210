import FoundationEssentials
import Glibc
import Messages
import Recording
import Settings
import Threads

/// The web page of a running Pinna: a process of its own, `pinna` with the argument `word`, so that nothing that a browser does
/// costs the engine anything. It asks Pinna over the control socket, as every verb does, and ends with it.
///
/// Thread: the one that starts it.
package struct WebProcess {
  /// The command-line argument that makes `pinna` the web process.
  package static let word = "--serve-web-page"

  /// What the web process needs. Not on its command line, which every user can read.
  private struct Order: Codable {
    let name: String
    let port: UInt16
    let token: String
    let takesFolder: String?
    let deviceFile: String?
  }

  /// The answer to an order.
  private struct Outcome: Codable {
    var port: UInt16?
    var reason: String?
  }

  private let helper: HelperProcess
  /// With the token; to be printed once.
  package let address: String

  /// Starts the process, and returns when its port is open.
  /// - Parameters:
  ///   - name: of the Pinna.
  ///   - port: 0 for any free one.
  ///   - takesFolder: an absolute path; nil for the standard folder.
  ///   - deviceFile: the file of `--device`; nil without it.
  /// - Throws: if the port is taken.
  package init(name: String, port: UInt16, takesFolder: String?, deviceFile: String?) throws(Failure) {
    let secret = Secret()
    let order = json(
      Order(name: name, port: port, token: secret.text, takesFolder: takesFolder, deviceFile: deviceFile))
    guard let helper = HelperProcess(words: [Self.word]), let answer = helper.ask(Array(order.utf8)),
      let outcome = try? JSONDecoder().decode(Outcome.self, from: Data(answer))
    else { throw Failure(.failed, "the web page's process cannot be started; leave out --web") }
    guard let open = outcome.port else {
      throw Failure(.failed, outcome.reason ?? "the web page has no port")
    }
    self.helper = helper
    address = "http://127.0.0.1:\(open)/?token=\(secret.text)"
  }

  /// Calls `body` once if the process ends before Pinna does.
  package func onEnd(_ body: @escaping @Sendable () -> Void) throws(NoThread) {
    nonisolated(unsafe) let helper = helper
    try BackgroundThread.start("pinna web watch") {
      helper.waitForEnd()
      body()
    }
  }

  // MARK: - In the web process

  /// Serves the page until the parent process ends.
  ///
  /// Thread: main thread of the web process.
  /// - Parameters:
  ///   - curves: what draws the polar pattern of a running device.
  ///   - talkers: what draws who spoke in a take.
  /// - Returns: the exit status of the process.
  package static func run(curves: @escaping CurvesOfDevice, talkers: @escaping TalkersOfTake) -> Int32 {
    let started = Locked<Outcome?>(nil)
    HelperProcess.serve { request in
      guard started.withLock({ $0 == nil }) else { return [1] }
      let outcome = start(request, curves, talkers)
      started.withLock { $0 = outcome }
      return Array(json(outcome).utf8)
    }
    return 0
  }

  private static func start(
    _ request: [UInt8], _ curves: @escaping CurvesOfDevice, _ talkers: @escaping TalkersOfTake
  ) -> Outcome {
    guard let order = try? JSONDecoder().decode(Order.self, from: Data(request)) else {
      return Outcome(reason: "the order to the web page's process is malformed")
    }
    let (client, events) = (ControlClient(name: order.name), PageEvents())
    let routes = PageRoutes(
      client: client, takes: TakeLibrary(folder: order.takesFolder), deviceFile: order.deviceFile,
      curves: curves, talkers: talkers)
    do {
      let server = try WebServer(
        port: order.port, secret: Secret(order.token), routes: routes, events: events)
      let poller = Poller(client: client, events: events)
      try BackgroundThread.start("pinna web poll") { poller.run() }
      return Outcome(port: server.port)
    } catch { return Outcome(reason: String(describing: error)) }
  }
}
