import FoundationEssentials
import Glibc
import Text
import Threads

/// The text that `pinna doctor --report` writes: sections of a system's facts, without secrets.
public struct BugReport {
  private var sections: [(title: String, text: String)] = []
  private let home: String?
  private let user: String?

  /// - Parameters:
  ///   - home: the path that becomes "~".
  ///   - user: the name that becomes "~" in other paths.
  public init(home: String?, user: String?) {
    self.home = home.flatMap { $0.count > 1 ? $0 : nil }
    self.user = user
  }

  /// Adds a section. Nil or empty text is left out.
  public mutating func add(_ title: String, _ text: String?) {
    guard let text, !text.isEmpty else { return }
    sections.append((title, text))
  }

  public var text: String {
    plain(sections.map { "== \($0.title)\n\($0.text)\n" }.joined(separator: "\n"))
  }

  /// `text` without the user's name in paths.
  private func plain(_ text: String) -> String {
    var text = text
    if let home { text = text.replacing(home, with: "~") }
    guard let user, !user.isEmpty else { return text }
    // Not where a longer name begins with this one.
    let parts = text.split(separator: "/" + user, omittingEmptySubsequences: false)
    return parts.dropFirst().reduce(into: String(parts[0])) { text, rest in
      let goesOn = rest.unicodeScalars.first.map(Self.nameScalars.contains) ?? false
      text += (goesOn ? "/" + user : "/~") + rest
    }
  }

  /// What users' names consist of.
  private static let nameScalars = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-".unicodeScalars)

  /// The variables that decide which server and which folders a JACK program uses, and no others: any may hold a secret,
  /// as XDG_ACTIVATION_TOKEN does.
  public static func environment(_ all: [String: String]) -> String {
    all.filter { variable in
      ["JACK_", "PIPEWIRE_", "XDG_"].contains(where: variable.key.hasPrefix)
        && !["TOKEN", "SECRET", "PASSWORD", "COOKIE"].contains(where: variable.key.contains)
    }
    .map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "\n")
  }
}

extension SystemRoot {
  /// "Debian GNU/Linux 12 (bookworm)"; nil if unknown.
  public var distribution: String? {
    text("/etc/os-release")?.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
      .map { $0.dropFirst("PRETTY_NAME=".count).trimmed { $0 == "\"" } }
  }

  /// The kernel's version line.
  public var kernel: String? { text("/proc/version") }

  /// The processor's name, its number of cores, and the caches of the first.
  public var processor: String {
    // The whole file may be longer than other files of the system.
    let name = (SmallFile.text(rooted("/proc/cpuinfo"), limit: 1 << 14) ?? "").split(separator: "\n")
      .first { $0.hasPrefix("model name") }?.split(separator: ":").last?.trimmed()
    let folder = "/sys/devices/system/cpu"
    let cores = names(folder).count { $0.wholeMatch(of: #/cpu[0-9]+/#) != nil }
    let caches = names("\(folder)/cpu0/cache").filter { $0.hasPrefix("index") }.compactMap { index in
      let facts = ["level", "type", "size"].compactMap { text("\(folder)/cpu0/cache/\(index)/\($0)") }
      return facts.count == 3 ? "L\(facts[0]) \(facts[1]) \(facts[2])" : nil
    }
    return ([name ?? "unknown", "\(cores) cores"] + caches).joined(separator: "\n")
  }

  /// ALSA's list of cards, and what each of them captures.
  public var soundCards: String {
    let streams = names("/proc/asound").filter { $0.hasPrefix("card") && Int($0.dropFirst(4)) != nil }.flatMap
    { card in
      names("/proc/asound/\(card)").filter { $0.hasPrefix("stream") }.map { "/proc/asound/\(card)/\($0)" }
    }
    return (["/proc/asound/cards", "/proc/asound/pcm"] + streams).compactMap { file in
      text(file).map { "\(file):\n\($0)" }
    }.joined(separator: "\n")
  }
}
