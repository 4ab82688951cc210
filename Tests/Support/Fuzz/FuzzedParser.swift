import Foundation
import TestSupport

/// The parsers of untrusted input. Tests/FuzzCorpus has each one's seed inputs and later findings under its
/// name, and a dictionary of its keywords, NAME.dict.
public enum FuzzedParser: String, CaseIterable, Sendable {
  case device, preset, bank, controllers, scene, directions, sofa, filters, plugin, sound, take, sidecar, osc,
    midi

  /// The promise of reliability.md that the parser keeps.
  public var promise: String {
    switch self {
    case .device, .preset, .bank, .controllers, .scene: "R15"
    case .directions, .sofa, .filters, .plugin, .sound, .take, .sidecar: "R16"
    case .osc: "R17"
    case .midi: "R53"
    }
  }

  private static let folder = repositoryFolder + "/Tests/FuzzCorpus"

  /// Its inputs, ordered by file name.
  public func corpus() throws -> [[UInt8]] {
    let folder = "\(Self.folder)/\(rawValue)"
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map {
      Array(try Data(contentsOf: URL(filePath: "\(folder)/\($0)")))
    }
  }

  /// The words of its dictionary, which libFuzzer also reads: one `"…"` per line, with \xHH for other bytes.
  public func words() throws -> [[UInt8]] {
    let text = try String(contentsOfFile: "\(Self.folder)/\(rawValue).dict", encoding: .utf8)
    return text.split(separator: "\n").filter { $0.hasPrefix("\"") }.map { line in
      var word: [UInt8] = []
      var rest = line.dropFirst().dropLast()[...]
      while let letter = rest.popFirst() {
        guard letter == "\\", let escaped = rest.popFirst() else {
          word += Array(String(letter).utf8)
          continue
        }
        guard escaped == "x" else {
          word += Array(String(escaped).utf8)
          continue
        }
        word.append(UInt8(rest.prefix(2), radix: 16)!)
        rest = rest.dropFirst(2)
      }
      return word
    }
  }
}

/// A fault that an input caused in a parser.
public struct FuzzFinding: Error, CustomStringConvertible {
  public let description: String
}

extension FuzzFinding {
  /// A refusal that is not a single sentence on one line is a finding.
  public init?(refusal: any Error) {
    if let finding = refusal as? FuzzFinding {
      self = finding
      return
    }
    let words = String(describing: refusal)
    guard words.isEmpty || words.count >= 1000 || words.contains(where: \.isNewline) else { return nil }
    self.init(description: "a refusal that is not one sentence: \(words)")
  }
}
