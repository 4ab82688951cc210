import Foundation
import Messages
import Recording
import Settings
import TestSupport

/// A running `pinna` in a graph for one test: on a server (`LiveGraph`), or without one (`OfflineGraph`).
public protocol PinnaGraph: AnyObject {
  var home: PinnaHome { get }
  /// The `pinna run` in the graph.
  var program: Program { get }
  /// Whether Pinna is in every period, so that no frame of a take can be missing.
  var isSynchronous: Bool { get }
}

extension PinnaGraph {
  /// Returns when Pinna answers and its first fade is over.
  func awaitAnswer() throws {
    // The first design of a device may take a while.
    let end = ContinuousClock.now + .seconds(180)
    let client = ControlClient(name: "pinna", environment: home.environment)
    while true {
      guard program.isRunning else { throw SupportError("pinna run ended: \(program.errorText)") }
      let outcome = Result { () throws(Failure) in
        try client.request(OSCMessage("/pinna/set", [.string("gain"), .string("0")]))
      }
      let (status, text) =
        switch outcome {
        case .success(let answer): (answer.status, answer.text)
        case .failure(let failure): (failure.status, failure.description)
        }
      if status == .done { return }
      // A session's preferences may supersede ours.
      let mayRetry =
        status == .notRunning
        || ["did not answer", "superseded", "are being prepared"].contains { text.contains($0) }
      guard mayRetry, ContinuousClock.now < end else {
        throw SupportError("pinna run does not answer: \(text)")
      }
      usleep(5_000)
    }
  }

  public func pinna(_ words: String...) throws -> Program.Outcome { try home.pinna(words) }

  /// Ends a take in which no frame may be missing. The server must be synchronous: an asynchronous one leaves
  /// Pinna out of periods on a busy machine, and the take is incomplete.
  @discardableResult
  public func stopTake(_ path: String) throws -> Sidecar {
    precondition(isSynchronous, "whether a take is complete is left to chance without a synchronous server")
    let outcome = try pinna("record", "stop")
    guard outcome.status == 0 else { throw SupportError("\(outcome)\(program.errorText)") }
    let sidecar = try TakeFiles.sidecar(path)
    guard sidecar.state == .complete else { throw SupportError("\(outcome)") }
    return sidecar
  }

  /// What `pinna status --json` prints.
  public func status() throws -> [String: Any] {
    let text = try ControlClient(name: "pinna", environment: home.environment).request(
      OSCMessage("/pinna/status")
    ).text
    guard let status = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
      throw SupportError("no JSON object: \(text)")
    }
    return status
  }

  public func microphones() throws -> [String] {
    let levels = try status()["levels"] as? [String: Any]
    return (levels?["microphones"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
  }

  /// The feeds that Pinna lists, by name.
  public func feeds() throws -> [String: [String: Any]] {
    let listed = try pinna("feed", "list", "--json").json()["feeds"] as? [[String: Any]] ?? []
    return Dictionary(uniqueKeysWithValues: listed.map { ($0["name"] as? String ?? "", $0) })
  }

  /// Waits until Pinna has looked at the current graph: it answers an output selection only after such a
  /// look. Requires that no selection was made before, no session controls the route and no take runs.
  public func waitForLook() throws {
    let sender = try sender()
    for choice in ["speaker", "standard"] {
      sender.send("/pinna/set", "output", choice)
      let reply = sender.reply(seconds: 10)
      guard reply?.status == 0 else { throw SupportError("the output cannot be chosen: \(reply as Any)") }
    }
  }

  /// The part of a status that only a change may alter, as the JSON of each key's value: without counters, levels,
  /// warnings, and fallbacks, which are prepared in the background.
  public func stableStatus() throws -> [String: String] {
    var status = try status()
    // The connections are those of the last look at the graph, up to 45 ms ago.
    for key in [
      "levels", "dspLoad", "adaptationLoad", "xruns", "droppedPackets", "warnings", "silence", "connections",
      "preparedFallbacks",
    ] { status[key] = nil }
    for (part, counter) in [("take", "frames"), ("take", "secondsLeft"), ("playback", "framesPlayed")] {
      guard var rest = status[part] as? [String: Any] else { continue }
      rest[counter] = nil
      status[part] = rest
    }
    return try status.mapValues {
      String(
        decoding: try JSONSerialization.data(withJSONObject: $0, options: [.sortedKeys, .fragmentsAllowed]),
        as: UTF8.self)
    }
  }

  /// The keys of `stableStatus` whose values differ from `before`.
  public func changes(since before: [String: String]) throws -> [String] {
    let now = try stableStatus()
    return Set(before.keys).union(now.keys).filter { before[$0] != now[$0] }.sorted()
  }

  /// A sender to Pinna's control socket without the command line, for many requests per second.
  public func sender() throws -> ControlSender { try ControlSender(runtimeFolder: home.runtimeFolder) }

  /// Starts a take with its microphones and returns its path.
  /// - Parameter frames: waits until so many are on disk.
  public func startTake(_ more: String..., frames: Int = 0) throws -> String {
    let outcome = try home.pinna(["record", "start", "--raw", "--json"] + more)
    guard let path = try outcome.json()["take"] as? String else { throw SupportError("\(outcome)") }
    if frames > 0 { try waitForTake(frames: frames) }
    return path
  }

  /// A value of the status as text, such as "1" for true.
  public func value(_ key: String) throws -> String { try "\(status()[key] ?? "nil")" }

  /// Whether that value is `wanted` in a while.
  public func becomes(_ key: String, _ wanted: String) throws -> Bool {
    try waitUntil(seconds: 30) { try value(key) == wanted }
  }
}
