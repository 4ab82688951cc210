import Glibc
import Text
import Threads

/// The processor of this machine, for figures that mean nothing without it.
package struct Machine: Codable, Sendable {
  /// "AMD EPYC (family 25, model 17)"; "unknown processor" where the system does not say.
  package let processor: String
  package let cores: Int
  /// Bytes of the data and unified caches of the first core, by level; missing where the system does not say.
  package let cacheBytes: [Int: Int]
  /// Cores that share each cache, as the system lists them: "0-1".
  package let cacheCores: [Int: String]

  package static var current: Machine {
    let info = text("/proc/cpuinfo").split(separator: "\n")
    func field(_ name: String) -> String? {
      info.first { $0.hasPrefix(name) && $0.dropFirst(name.count).first.map { "\t :".contains($0) } == true }?
        .split(separator: ":", maxSplits: 1).last?.trimmed()
    }
    let caches = ProcessorCaches.current
    let numbers = [("family", field("cpu family")), ("model", field("model"))]
      .compactMap { name, number in number.map { "\(name) \($0)" } }
    let name = field("model name") ?? "unknown processor"
    return Machine(
      processor: name + (numbers.isEmpty ? "" : " (\(numbers.joined(separator: ", ")))"),
      cores: sysconf(Int32(_SC_NPROCESSORS_ONLN)), cacheBytes: caches.bytes, cacheCores: caches.cores)
  }

  /// "AMD EPYC (family 25, model 17), 2 cores, L1 32 kB, L2 1 MB, L3 32 MB"
  package var summary: String {
    let caches = cacheBytes.sorted { $0.key < $1.key }.map { level, bytes in
      let megabytes = Double(bytes) / Double(1 << 20)
      return "L\(level) " + (megabytes < 1 ? "\(bytes >> 10) kB" : String(format: "%.3g MB", megabytes))
    }
    return ([processor, "\(cores) core\(cores == 1 ? "" : "s")"] + caches).joined(separator: ", ")
  }

  /// Of a text file; empty if it cannot be read.
  private static func text(_ path: String) -> String {
    (SmallFile.text(path) ?? "").trimmed(lines: true)
  }
}
