import Acoustics
import AudioFiles
import FoundationEssentials
import Glibc
import JackClient
import Messages
import Presets
import Settings
import Synchronization
import Text
import Threads

/// What a Pinna remembers from one run to the next: its setting, and the connections that others made to its ports.
package struct RunMemory: Codable, Equatable, Sendable {
  /// The setting in force. What is heard, not whether and where: mute and output are not remembered.
  package struct LastSetting: Equatable, Sendable {
    /// A preset's name, or that of the device if it was chosen without one.
    package let preset: String
    package let device: String
    /// UID of the input in the route; nil if it is the device itself.
    let input: String?
    /// `main`, then the others.
    let feeds: [FeedSetting]
    /// Who sits where, as `--seat` takes it; nil for nobody.
    let seats: [String]?

    package init(_ setting: Setting) {
      preset = setting.preset
      device = setting.home.name
      input = setting.device == setting.home ? nil : setting.device.uid
      feeds = setting.feeds.map { feed in
        // What is heard, not whether.
        var feed = feed.reported
        feed.muted = false
        return feed
      }
      seats = setting.seats.isEmpty ? nil : setting.seats.map(\.word)
    }

    /// The setting, from the present files of its preset and device. Waits for the disk.
    /// - Throws: if they are missing, or no longer offer it.
    package func setting(in library: PresetLibrary) throws -> Setting {
      // A run with --device is named after the device.
      let preset =
        if self.preset != device, let known = try? library.preset(named: self.preset) { known } else {
          Preset(of: try library.device(named: device))
        }
      var setting = Setting(preset: preset, device: try library.device(named: preset.device))
      if let input {
        let known = setting.home.inputs.first { $0.uid == input }
        // Inputs that no device file describes are capture ports.
        setting.choose(known ?? Device(linePort: input))
      }
      try setting.apply(FeedValues(feeds[0]).changes)
      var others: [FeedSetting] = []
      for last in feeds.dropFirst() {
        // What the device does not offer any more is left out.
        guard let feed = try? last.found(on: setting.device),
          FeedNames.obstacle(to: feed, among: others, of: setting.device) == nil
        else { continue }
        others.append(feed)
      }
      setting.want(others)
      setting.seats = try Seat.list(seats ?? [])
      try setting.device.check(setting.main.selection)
      return setting
    }
  }

  static let format = 1
  /// Version of the file's format.
  let format: Int
  package let setting: LastSetting
  package fileprivate(set) var connections: [Wiring.Wire]

  package init(_ setting: Setting, _ connections: [Wiring.Wire]) {
    format = Self.format
    self.setting = LastSetting(setting)
    self.connections = connections
  }
}

extension RunMemory.LastSetting: Codable {
  private enum CodingKeys: CodingKey { case preset, device, input, feeds, turn, seats }

  /// The values of `main` stand beside the rest, and `feeds` has the others.
  package func encode(to encoder: any Encoder) throws {
    try feeds[0].encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(preset, forKey: .preset)
    try container.encode(device, forKey: .device)
    try container.encodeIfPresent(input, forKey: .input)
    try container.encodeIfPresent(seats, forKey: .seats)
    if feeds.count > 1 { try container.encode(Array(feeds.dropFirst()), forKey: .feeds) }
  }

  package init(from decoder: any Decoder) throws {
    /// As version 0.2.0 wrote it: the pose and what follows it stand apart.
    struct LastFeed: Decodable {
      let feed: FeedSetting

      init(from decoder: any Decoder) throws {
        var feed = try FeedSetting(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let turn = try container.decodeIfPresent(FeedSetting.self, forKey: .turn) {
          (feed.selection.pose, feed.selection.follows) = (turn.selection.pose, turn.selection.follows)
        }
        self.feed = feed
      }
    }
    let container = try decoder.container(keyedBy: CodingKeys.self)
    preset = try container.decode(String.self, forKey: .preset)
    device = try container.decode(String.self, forKey: .device)
    input = try container.decodeIfPresent(String.self, forKey: .input)
    seats = try container.decodeIfPresent([String].self, forKey: .seats)
    let others = try container.decodeIfPresent([LastFeed].self, forKey: .feeds) ?? []
    feeds = [try LastFeed(from: decoder).feed] + others.map(\.feed)
  }
}

/// The file of a `RunMemory`: `$XDG_STATE_HOME/pinna/NAME.json`, by default in `~/.local/state`.
///
/// Thread: any. `keep` never waits: a thread of its own writes, because the disk may hang.
package final class RunMemoryFile: Sendable {
  package let path: String
  private let worker: Worker
  private let writes = LatestRequest<RunMemory>()
  private let last = Mutex<RunMemory?>(nil)
  private let writeFault = Mutex<String?>(nil)

  /// Nil if there is no home folder.
  package static func path(
    name: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    let state =
      HomeFolder.absolute(environment["XDG_STATE_HOME"])
      ?? HomeFolder.path(environment).map { $0 + "/.local/state" }
    return state.map { "\($0)/pinna/\(name).json" }
  }

  package init(path: String) throws(NoThread) {
    self.path = path
    worker = try Worker("pinna memory")
  }

  /// What the last run left; nil if nothing.
  /// - Parameter kind: what the file is, for messages.
  /// - Throws: `Failure` if the file cannot be used.
  package static func read(_ path: String, kind: String = "the memory of the last run") throws(Failure)
    -> RunMemory?
  {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    guard isRegular(path), let data = FileManager.default.contents(atPath: path), data.count < 1 << 20,
      let memory = try? JSONDecoder().decode(RunMemory.self, from: data),
      memory.format == RunMemory.format
    else {
      throw Failure(.failed, "\(path), \(kind), cannot be used; remove it")
    }
    return memory
  }

  /// Writes `memory` if it differs from what was written last.
  package func keep(_ memory: RunMemory) {
    let isNew = last.withLock { last in
      defer { last = memory }
      return last != memory
    }
    guard isNew else { return }
    _ = writes.post(memory, on: worker) { [self] memory, _ in
      let failure: Failure?
      do throws(Failure) {
        try Self.write(memory, to: path)
        failure = nil
      } catch { failure = error }
      writeFault.withLock { $0 = failure?.description }
    }
  }

  /// Why the last `keep` has kept nothing, as a sentence; nil if it has.
  package var fault: String? {
    writeFault.withLock { $0 }.map { "connections and setting are not kept for the next run: \($0)" }
  }

  /// Forgets the connections that the file lists; the setting stays.
  /// - Returns: how many.
  package static func forgetConnections(_ path: String) throws -> Int {
    guard var memory = try read(path) else { return 0 }
    let count = memory.connections.count
    memory.connections = []
    try write(memory, to: path)
    return count
  }

  /// Whether the file that `path` leads to is a plain one. Reading another, such as a pipe, may never end.
  private static func isRegular(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Waits for the disk. A link stays one: the file that it leads to is replaced.
  package static func write(_ memory: RunMemory, to path: String) throws(Failure) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      try FileManager.default.createDirectory(
        atPath: path.deletingLastPathComponent, withIntermediateDirectories: true)
      guard isRegular(path) || !FileManager.default.fileExists(atPath: path) else {
        throw Failure(.failed, "cannot write \(path): it is not a plain file; remove it")
      }
      let bytes = try encoder.encode(memory)
      try OutputFile(URL(filePath: path).resolvingSymlinksInPath().path, replacing: true, updating: true)
        .write(bytes)
    } catch let failure as Failure {
      throw failure
    } catch let error as AudioFileError {
      throw Failure(.failed, error.description)
    } catch {
      throw Failure(.failed, "cannot write \(path): \(error.systemReason); check its folder and the disk")
    }
  }
}
