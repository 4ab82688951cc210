import Text
import Threads

/// The data caches of the first core, as the system describes them.
public struct ProcessorCaches: Sendable {
  /// Bytes by level, of data and unified caches; missing where the system does not say.
  public private(set) var bytes: [Int: Int]
  /// The cores that share each of them, as the system lists them: "0-1".
  public let cores: [Int: String]

  public static let current = ProcessorCaches("/sys/devices/system/cpu/cpu0/cache")

  /// Bytes of the second level; 1 MB where the system does not say.
  public var secondLevel: Int {
    get { bytes[2] ?? 1 << 20 }
    set { bytes[2] = newValue }
  }

  /// Bytes of the last level that an engine can count on: half of a third level, which other programs use, too, or else
  /// the second level. 16 MB where the system says nothing at all.
  package var lastLevelShare: Int { bytes.isEmpty ? 16 << 20 : max(secondLevel, (bytes[3] ?? 0) / 2) }

  /// Thread: any but the callback's.
  /// - Parameter folder: has a folder `index0`, `index1` … for each cache, as Linux does.
  package init(_ folder: String) {
    var (bytes, cores): ([Int: Int], [Int: String]) = ([:], [:])
    for index in 0..<8 {
      func text(_ name: String) -> String {
        (SmallFile.text("\(folder)/index\(index)/\(name)") ?? "").trimmed(lines: true)
      }
      guard text("type") != "Instruction", let level = Int(text("level")), let size = Self.size(text("size"))
      else {
        continue
      }
      bytes[level] = size
      cores[level] = text("shared_cpu_list")
    }
    (self.bytes, self.cores) = (bytes, cores)
  }

  /// A size as people and the system write it, "1024K" or "2M" or "4096", in bytes; nil for anything else.
  public static func size(_ text: String) -> Int? {
    let factors: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    guard let unit = text.last, let factor = factors[unit] else { return Int(text) }
    return Int(text.dropLast()).flatMap { number in
      let (bytes, overflows) = number.multipliedReportingOverflow(by: factor)
      return overflows ? nil : bytes
    }
  }
}
