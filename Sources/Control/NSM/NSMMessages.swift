import Messages
import Processor

/// The error codes of the NSM protocol that Pinna sends.
package enum NSMError: Int32, Sendable {
  case general = -1
  case notNow = -8
  case badProject = -9
  case createFailed = -10
}

/// What a session manager asks of its clients.
enum NSMRequest: Equatable {
  case open(NSMProject)
  case save

  static let openPath = "/nsm/client/open"
  static let savePath = "/nsm/client/save"

  /// Nil for every other message, and for one with other arguments than the protocol says.
  init?(_ message: OSCMessage) {
    switch message.path {
    case Self.openPath:
      guard message.arguments.count == 3, case .string(let path) = message.arguments[0],
        case .string = message.arguments[1], case .string(let client) = message.arguments[2]
      else { return nil }
      self = .open(NSMProject(path: path, clientID: client))
    case Self.savePath:
      guard message.arguments.isEmpty else { return nil }
      self = .save
    default: return nil
    }
  }
}

/// The messages that Pinna sends to a session manager.
enum NSMMessage {
  static let announcePath = "/nsm/server/announce"
  static let capabilities = ":switch:dirty:progress:message:"

  /// - Parameter executable: the name that the program was started with, without its folder.
  static func announce(executable: String, process: Int32) -> OSCMessage {
    OSCMessage(
      announcePath,
      [
        .string("pinna"), .string(capabilities), .string(executable), .integer(1), .integer(2),
        .integer(process),
      ])
  }

  /// Whether `message` is the manager's answer to the announcement, a welcome or a refusal.
  static func answersAnnouncement(_ message: OSCMessage) -> Bool {
    ["/reply", "/error"].contains(message.path) && message.arguments.first == .string(announcePath)
  }

  static func reply(to path: String, _ sentence: String) -> OSCMessage {
    OSCMessage("/reply", [.string(path), .string(sentence)])
  }

  static func error(to path: String, _ code: NSMError, _ sentence: String) -> OSCMessage {
    OSCMessage("/error", [.string(path), .integer(code.rawValue), .string(sentence)])
  }

  static func isDirty(_ isDirty: Bool) -> OSCMessage {
    OSCMessage(isDirty ? "/nsm/client/is_dirty" : "/nsm/client/is_clean")
  }

  static func progress(_ part: Double) -> OSCMessage {
    OSCMessage("/nsm/client/progress", [.float(Float(part))])
  }

  /// - Parameter priority: from 0 to 3, the most important.
  static func message(_ sentence: String, priority: Int32) -> OSCMessage {
    OSCMessage("/nsm/client/message", [.integer(priority), .string(String(sentence.prefix(1000)))])
  }
}
