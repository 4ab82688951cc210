import Acoustics
import Settings

/// One row of the OSC method table. The table in docs/control.md is generated from it.
///
/// A packet is one message of strings, numbers (i, f, h, d) and the tags T (on), F (off), N and I (ignored), or a
/// bundle of such messages. A sender over UDP must have subscribed. A sender on the Unix socket may receive:
/// - `/pinna/progress` text fraction: progress of a slow request, from 0 to 1; only for requests with a number.
/// - `/pinna/reply` status text: one for each request.
/// - `/pinna/part` text: the beginning of a text that is too long for one packet, before that `/pinna/reply`. There may
///   be several (`AnswerParts`).
/// - `/pinna/event` kind text: while a session is open.
///
/// Every method accepts a request number as an additional last argument (`OSCMessage.split`), which all of these
/// repeat. Every method is also a push button's (`OSCButton.swift`).
public struct OSCMethod: Sendable {
  package enum Action: Sendable, Equatable {
    case status, inputs, levels, talkers, set
    case names(NameList)
    case setOne(SettingKey)
    case usePreset, cancelPreset, recordStart, recordStop, stop
    case record, play, playStop, forget, mark, title, outputs
    case useBank, loadMIDI, learnMIDI
    case feedList, feedAdd, feedSet, feedRemove
    case pose(PoseFormat)
    case calibrateTracker(TrackerMounting.Step)
    case servePage
    case subscribe, unsubscribe
    case sessionOpen, sessionClaim, sessionSet, sessionPeriod, sessionClose
  }

  public let path: String
  /// Description of the arguments, for the manual.
  public let arguments: String
  public let effect: String
  package let action: Action
  private let counts: ClosedRange<Int>

  /// Path of the method that a packet over UDP must call first.
  package static let subscribe = "/pinna/subscribe"

  package static let feedSet = "/pinna/feed/set"
  /// A name, and a pair for each setting, for format and for order.
  private static let feedArguments = 1...1 + 2 * (SettingKey.ofFeeds.count + 2)

  /// The method at `path`; nil if there is none.
  package static func at(_ path: String) -> OSCMethod? { all.first { $0.path == path } }

  /// Whether the method accepts this number of arguments.
  package func accepts(_ count: Int) -> Bool {
    guard counts.contains(count) else { return false }
    switch action {
    case .set: return count % 2 == 0
    case .sessionSet, .feedAdd: return count % 2 == 1
    case .feedSet: return count == 2 || count % 2 == 1
    case .recordStart: return count == 1 || count % 2 == 0
    default: return true
    }
  }

  /// Whether its only argument is a text that may be left out, so that a number there is a button's.
  var hasOptionalText: Bool { [.recordStart, .mark, .learnMIDI].contains(action) }

  init(_ path: String, _ arguments: String, _ counts: ClosedRange<Int>, _ effect: String, _ action: Action) {
    self.path = path
    self.arguments = arguments
    self.counts = counts
    self.effect = effect
    self.action = action
  }

  public static let all: [OSCMethod] =
    [
      OSCMethod("/pinna/status", "no arguments", 0...0, "everything that status prints, as JSON", .status),
      OSCMethod("/pinna/inputs", "no arguments", 0...0, "inputs and data sources, as JSON", .inputs),
      OSCMethod(
        "/pinna/levels", "no arguments", 0...0, "levels of microphones and outputs, as JSON", .levels),
      OSCMethod("/pinna/talkers", "no arguments", 0...0, "who speaks where, as JSON", .talkers),
      OSCMethod(
        "/pinna/outputs", "a number of frames, up to 4096", 1...1,
        "the newest frames of both outputs, as JSON",
        .outputs),
      OSCMethod("/pinna/presets", "no arguments", 0...0, "names of the presets, as JSON", .names(.presets)),
      OSCMethod("/pinna/banks", "no arguments", 0...0, "names of the banks, as JSON", .names(.banks)),
      OSCMethod("/pinna/devices", "no arguments", 0...0, "names of the devices, as JSON", .names(.devices)),
      OSCMethod(
        "/pinna/takes", "nothing, or how many", 0...1,
        "file names of the newest takes in the takes folder, as JSON; 20 by default, at most 1000",
        .names(.takes)),
      OSCMethod(
        "/pinna/set", "pairs of strings, setting and value", 0...2 * SettingKey.allCases.count,
        "several changes as one crossfade", .set),
    ]
    + SettingKey.allCases.map { key in
      OSCMethod(
        "/pinna/set/\(key.rawValue)", key.row.arguments, 0...(key == .look ? 2 : 1), key.row.effect,
        .setOne(key))
    } + [
      OSCMethod("/pinna/look", "azimuth and elevation, or off", 0...2, "the same", .setOne(.look)),
      OSCMethod(
        "/pinna/pose/roll", "degrees", 1...1, "the pose that comes in; as set where nothing follows it",
        .pose(.roll)),
      OSCMethod("/pinna/pose/yaw", "degrees", 1...1, "the same", .pose(.yaw)),
      OSCMethod(
        "/pinna/pose/centre", "no arguments", 0...0, "take the present pose for that of no angles",
        .calibrateTracker(.centre)),
      OSCMethod(
        "/pinna/pose/nod", "no arguments", 0...0, "take it for that of a wearer who looks down",
        .calibrateTracker(.nod)),
      OSCMethod(
        "/pinna/pose/turn", "no arguments", 0...0, "take it for that of a wearer who looks to the left",
        .calibrateTracker(.turn)),
      OSCMethod(
        "/ypr", "yaw, pitch, roll", 3...3, "the pose that comes in, from a head tracker", .pose(.angles)),
      OSCMethod("/adm/lis/ypr", "yaw, pitch, roll", 3...3, "the same", .pose(.angles)),
      OSCMethod("/SceneRotator/ypr", "yaw, pitch, roll", 3...3, "the same", .pose(.angles)),
      OSCMethod("/SceneRotator/yaw", "yaw", 1...1, "the same", .pose(.yawAlone)),
      OSCMethod("/quat", "w, x, y, z of a quaternion", 4...4, "the same", .pose(.quaternion)),
      OSCMethod(
        "/gamerotationvector", "x, y, z and perhaps w", 3...4, "the same, from a phone's sensors",
        .pose(.rotationVector)),
      OSCMethod("/pinna/feed/list", "no arguments", 0...0, "the feeds besides main, as JSON", .feedList),
      OSCMethod(
        "/pinna/feed/add", "a name, then pairs as for set; also format and order",
        feedArguments, "add a feed", .feedAdd),
      OSCMethod(
        feedSet, "a feed's name, then pairs as for set", feedArguments,
        "change a feed; a single value also at /pinna/feed/NAME/set/SETTING", .feedSet),
      OSCMethod("/pinna/feed/remove", "a name", 1...1, "remove a feed", .feedRemove),
      OSCMethod("/pinna/preset/use", "a string", 1...1, "change to a preset", .usePreset),
      OSCMethod(
        "/pinna/preset/cancel", "no arguments", 0...0, "cancel a pending change of device",
        .cancelPreset),
      OSCMethod(
        "/pinna/bank/use", "a string", 1...1, "let MIDI program changes choose from this bank", .useBank),
      OSCMethod(
        "/pinna/midi/load", "no arguments", 0...0, "read the bank and the controllers' file again", .loadMIDI),
      OSCMethod(
        "/pinna/midi/learn", "nothing, or what it shall set", 0...1,
        "answer which MIDI controller or pad is moved next, within 20 s", .learnMIDI),
      OSCMethod(
        "/pinna/record/start", "nothing, a folder, or pairs of strings, option and value", 0...16,
        "start a take; changes are refused until it ends", .recordStart),
      OSCMethod(
        "/pinna/record", "on or off, 1 or 0", 0...1,
        "start a take, or end it; without an argument: whether one is running",
        .record),
      OSCMethod("/pinna/record/stop", "no arguments", 0...0, "end the take", .recordStop),
      OSCMethod(
        "/pinna/record/marker", "nothing, or a label", 0...1, "mark the present place of the take", .mark),
      OSCMethod("/pinna/record/title", "a title", 1...1, "name the take in its sidecar", .title),
      OSCMethod(
        "/pinna/play", "a take's path; over UDP its name in the takes folder", 1...1,
        "play a take through the outputs", .play),
      OSCMethod("/pinna/play/stop", "no arguments", 0...0, "fade out what is played", .playStop),
      OSCMethod(
        "/pinna/forget", "no arguments", 0...0, "forget connections whose other ends are not there", .forget),
      OSCMethod(
        "/pinna/session/open", "a program's name", 1...1,
        "open a session: a token for the methods below, and from then on `/pinna/event`", .sessionOpen),
      OSCMethod(
        "/pinna/session/claim", "token, on or off", 2...2,
        "control the route; others' changes are deferred until it is released", .sessionClaim),
      OSCMethod(
        "/pinna/session/set", "token, then pairs as for set", 3...1 + 2 * SettingKey.allCases.count,
        "changes that a session requests", .sessionSet),
      OSCMethod(
        "/pinna/session/period", "token, seconds", 2...2, "ask the server for a period of about that length",
        .sessionPeriod),
      OSCMethod("/pinna/session/close", "token", 1...1, "end a session", .sessionClose),
      OSCMethod(
        subscribe,
        "token, then state (the default), levels or both, then levels per second (1 to 30), then a port",
        1...4,
        "over UDP: be heard, and get feedback, at that port if there is one, for the next 10 s", .subscribe),
      OSCMethod("/pinna/unsubscribe", "no arguments", 0...0, "over UDP: end that", .unsubscribe),
      OSCMethod(
        "/pinna/web", "no arguments", 0...0,
        "serve the web page, unless it is, and answer its address with the token; not over UDP", .servePage),
      OSCMethod("/pinna/stop", "no arguments", 0...0, "end the processor, finalising a take", .stop),
    ]
}
