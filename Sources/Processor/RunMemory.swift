import Acoustics
import AudioFiles
import FoundationEssentials
import Glibc
import JackClient
import Messages
import Presets
import Synchronization
import Text
import Threads

/// What a Pinna remembers from one run to the next: its setting, and the connections that others made to its ports.
package struct RunMemory: Codable, Equatable, Sendable {
  /// The setting in force. What is heard, not whether and where: mute and output are not remembered.
  package struct LastSetting: Codable, Equatable, Sendable {
    /// A preset's name, or that of the device if it was chosen without one.
    package let preset: String
    package let device: String
    /// UID of the input in the route; nil if it is the device itself.
    let input: String?
    let dataSource: String
    let polarPattern: String
    let inputOrientation: String
    /// As `pinna set` takes it. Nil for none, and from an older Pinna.
    let look: String?
    let turn: LastTurn?
    let gainDB: Double
    /// "off", or a corner in hertz.
    let highPass: String
    /// 0…1; nil for 0, and from an older Pinna.
    let adaptation: Double?
    /// Nil if there are none besides `main`, and from an older Pinna.
    let feeds: [LastFeed]?

    package init(_ setting: Setting) {
      preset = setting.preset
      device = setting.home.name
      input = setting.device == setting.home ? nil : setting.device.uid
      dataSource = setting.selection.dataSource
      polarPattern = setting.selection.polarPattern.rawValue
      inputOrientation = setting.selection.inputOrientation.rawValue
      look = setting.selection.effectiveLook?.word
      turn = LastTurn(setting.selection)
      gainDB = setting.gain.value
      highPass = setting.highPass.word
      adaptation = setting.adaptation > 0 ? setting.adaptation : nil
      feeds = setting.feeds.isEmpty ? nil : setting.feeds.map(LastFeed.init)
    }

    /// The changes that lead from the preset to this setting.
    package func changes() throws -> [Change] {
      try [
        Change(.dataSource, dataSource), Change(.pattern, polarPattern),
        Change(.orientation, inputOrientation),
        Change(.gain, "\(gainDB)"), Change(.highPass, highPass),
        Change(.adapt, "\(adaptation ?? 0)"),
      ] + (look.map { [try Change(.look, $0)] } ?? []) + Change.list((turn?.words ?? [])[...])
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
      try setting.apply(changes())
      var feeds: [Feed] = []
      for last in self.feeds ?? [] {
        guard let feed = last.feed(of: setting.device),
          FeedNames.obstacle(to: feed, among: feeds, of: setting.device) == nil
        else { continue }
        feeds.append(feed)
      }
      setting.want(feeds)
      try setting.device.check(setting.selection)
      return setting
    }
  }

  /// A pose, and what follows the one that comes in.
  struct LastTurn: Codable, Equatable, Sendable {
    let roll: Double
    let yaw: Double
    /// As `pinna set` takes it.
    let follow: String

    /// Nil if there is neither.
    init?(_ selection: Selection) {
      guard selection.pose != .none || !selection.follows.isEmpty else { return nil }
      (roll, yaw, follow) = (selection.pose.roll, selection.pose.yaw, selection.follows.word)
    }

    /// Pairs, as `pinna set` takes them.
    var words: [String] { ["roll", "\(roll)", "yaw", "\(yaw)", "follow", follow] }
  }

  /// A feed besides `main`, as `LastSetting` has main.
  struct LastFeed: Codable, Equatable, Sendable {
    let name: String
    let dataSource: String
    let polarPattern: String
    let inputOrientation: String
    let look: String?
    let turn: LastTurn?
    let gainDB: Double
    let highPass: String

    init(_ feed: Feed) {
      name = feed.name
      dataSource = feed.selection.dataSource
      polarPattern = feed.selection.polarPattern.rawValue
      inputOrientation = feed.selection.inputOrientation.rawValue
      look = feed.selection.effectiveLook?.word
      turn = LastTurn(feed.selection)
      gainDB = feed.gain.value
      highPass = feed.highPass.word
    }

    /// Nil if the file does not hold what a feed of `device` can be.
    func feed(of device: Device) -> Feed? {
      let words =
        [
          "data-source", dataSource, "orientation", inputOrientation, "gain", "\(gainDB)", "high-pass",
          highPass,
        ] + (look.map { ["look", $0] } ?? []) + (turn?.words ?? [])
      guard let pattern = PolarPattern(rawValue: polarPattern) else { return nil }
      var feed = Feed(
        name: name,
        selection: Selection(dataSource: dataSource, polarPattern: pattern, inputOrientation: .portrait))
      do { try FeedWords(words[...]).apply(to: &feed, of: device) } catch { return nil }
      return feed
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
