import Detection
import FoundationEssentials
import Text
import Threads

/// The root folder of the system that is examined. Tests plant a tree of their own.
public struct SystemRoot: Sendable {
  /// Empty for the real one.
  private let path: String

  public init(_ path: String = "") { self.path = path }

  /// The text of a small file, without blanks around it; nil if there is none. `file` is an absolute path.
  func text(_ file: String) -> String? {
    SystemFile.text(path + file)?.trimmed(lines: true)
  }

  /// The names in a folder, sorted; empty if it cannot be read.
  func names(_ folder: String) -> [String] {
    SystemFile.names(path + folder)
  }

  func exists(_ file: String) -> Bool { FileManager.default.fileExists(atPath: path + file) }

  func rooted(_ file: String) -> String { path + file }

  /// Folders of the processes of these names.
  func processes(_ programs: Set<String>) -> [String] {
    names("/proc").filter { Int($0) != nil && text("/proc/\($0)/comm").map(programs.contains) ?? false }
      .map { "/proc/" + $0 }
  }

  /// The names of the running JACK servers, by their command lines: `jackd -n NAME`.
  var jackServers: [String] {
    processes(["jackd"]).map { process in
      let line = SmallFile.text(rooted(process + "/cmdline"))
      // What follows -d are options of the driver; ALSA's -n is the number of periods.
      let words = (line ?? "").split(separator: "\0").dropFirst().map(String.init)
        .prefix { !$0.hasPrefix("-d") && !$0.hasPrefix("--driver") }
      if let at = words.firstIndex(where: { ["-n", "--name"].contains($0) }), at + 1 < words.count {
        return words[at + 1]
      }
      let joined = words.compactMap { $0.wholeMatch(of: /(?:-n|--name=)(.+)/)?.output.1 }.first
      return joined.map(String.init) ?? "default"
    }
  }
}
