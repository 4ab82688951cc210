import Acoustics
import Messages
import Presets
import Processor
import Recording
import Rendering
import Settings

/// The feeds of `render --feeds`, as presets name them; the file may be a preset.
enum FeedsFile {
  /// - Returns: the feeds besides main, in the order of the file.
  /// - Throws: `DescriptionError` for an error in the file.
  static func read(_ path: String, main: Setting) throws -> [FeedSetting] {
    let file = try YAMLReader(path: path)
    guard let feeds = try file.entries().first(where: { $0.key == "feeds" })?.value else {
      throw file.failure("has no key \"feeds\"; add it, with a line for each feed")
    }
    return try feeds.feeds(of: main.device, main: main.main)
  }
}

/// The changes of `render --automation`: what `pinna set` would change, and when.
///
/// ```yaml
/// - {at: 2.5, pattern: cardioid, gain: -3}
/// - {at: 4, orientation: landscapeLeft}
/// ```
enum AutomationFile {
  private static let keys = SettingKey.ofFeeds.filter { $0 != .follow }

  /// The settings from each frame on. A time in seconds becomes the nearest frame.
  /// - Parameter start: what is set before them. Changes at 0 s replace it.
  /// - Throws: `DescriptionError` for an error in the file.
  static func read(_ path: String, sampleRate: Int, start: inout Setting) throws -> [(
    frame: Int, setting: Setting
  )] {
    var changes: [(frame: Int, setting: Setting)] = []
    var setting = start
    var last = -1
    for entry in try YAMLReader(path: path).list() {
      let fields = try entry.fields(["at"] + keys.map(\.rawValue))
      let at = try fields.required("at", example: "2.5")
      let frame = Int((try at.number(in: 0...1e6, unit: "s") * Double(sampleRate)).rounded())
      guard frame > last else { throw at.failure("is not after the change before it; write them in order") }
      last = frame
      for key in keys {
        guard let value = fields.optional(key.rawValue) else { continue }
        do {
          let change: Change =
            if key == .look, let list = try? value.list(), list.count == 2 {
              .set(key, .look(try value.look()))
            } else {
              try Change(key, value.string())
            }
          try setting.apply([change])
        } catch let error as DescriptionError {
          throw error
        } catch { throw value.failure("cannot be used: \(error)") }
      }
      do { try setting.device.check(setting.main.selection) } catch {
        throw entry.failure("is not possible: \(error)")
      }
      if frame == 0 { start = setting } else { changes.append((frame, setting)) }
    }
    return changes
  }
}
