import Foundation

/// Where takes go, and what they are called: ISO date and time, preset, counter.
public struct TakeFolder: Sendable {
  public let path: String

  /// - Parameter path: nil for `$XDG_MUSIC_DIR/pinna`, or `~/Music/pinna` where that is not set.
  public init(path: String?, environment: [String: String] = ProcessInfo.processInfo.environment) {
    if let path {
      self.path = path
    } else if let music = environment["XDG_MUSIC_DIR"], !music.isEmpty {
      self.path = music + "/pinna"
    } else {
      self.path = (environment["HOME"] ?? NSHomeDirectory()) + "/Music/pinna"
    }
  }

  /// A path that no file has yet, in a folder that exists and can be written.
  public func newTake(preset: String, date: Date = Date()) throws(TakeError) -> String {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw TakeError("cannot make the takes folder \(path); choose another with --dir")
    }
    guard access(path, W_OK) == 0 else {
      throw TakeError("cannot write into the takes folder \(path); choose another with --dir")
    }
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy-MM-dd'T'HHmmss"
    let stem = "\(path)/\(formatter.string(from: date))-\(preset)"
    for counter in 1...9999 {
      let name = "\(stem)-\(counter).wav"
      if access(name, F_OK) != 0, access(name + ".part", F_OK) != 0 { return name }
    }
    throw TakeError("the takes folder \(path) holds 9999 takes of this second already")
  }
}
