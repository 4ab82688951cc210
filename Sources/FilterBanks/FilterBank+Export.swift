import Acoustics
import AudioFiles
import FilterDesign
import FoundationEssentials
import Numerics
import Settings

extension FilterBank {
  private static let description = "filters.json"

  /// Writes `filters.json` and one 32-bit float WAV file per case into `folder`, and creates the folder if necessary.
  ///
  /// Each WAV file has one frame per tap; channel = output × microphone count + microphone. `filters.json` is written
  /// last, so that it never describes files that are missing.
  /// - Parameter feeds: of a preset, whose cases the bank has. `filters.json` says which file is each feed's.
  public func write(folder: String, feeds: [FeedSetting] = []) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (coefficients, file) in zip(cases, fileNames) {
      try AudioClip(sampleRate: sampleRate, channels: coefficients.taps.channels).write(
        wav: "\(folder)/\(file)")
    }
    let written = zip(cases, fileNames).map {
      FilterDescription.Case($0, file: $1, delayFrames: delayFrames)
    }
    var description = FilterDescription(self, cases: written)
    description.feeds = feeds.isEmpty ? nil : feeds.map { FilterDescription.Feed($0, in: written) }
    try description.write("\(folder)/\(Self.description)")
  }

  /// Reads a folder that `write` wrote.
  /// - Throws: an error that names the file, if one is missing, malformed or inconsistent with the others.
  public init(folder: String) throws {
    let path = "\(folder)/\(Self.description)"
    let contents = try FilterDescription(path: path)
    var taps: [Taps<Float>] = []
    for entry in contents.cases {
      guard let file = entry.file, !file.isEmpty, !file.contains("/"), !file.hasPrefix(".") else {
        throw DesignError(
          "\(path) names \"\(entry.file ?? "")\", which is not a file beside it; export the filters again")
      }
      let clip = try AudioClip(path: "\(folder)/\(file)")
      let outputs = entry.filterCase.outputsOfFilters
      let expected = outputs * contents.microphones.count
      guard clip.sampleRate == contents.sampleRate, clip.channels.count == expected,
        clip.frames == taps.first?.length ?? clip.frames, entry.delayFrames == contents.delayFrames,
        (0..<max(1, clip.frames)).contains(entry.delayFrames)
      else {
        throw DesignError(
          "\(folder)/\(file) does not have the \(expected) channels, rate or length that \(path) and the "
            + "other filters say; export the filters again")
      }
      guard clip.channels.allSatisfy({ $0.allSatisfy(\.isFinite) }) else {
        throw DesignError("\(folder)/\(file) holds taps that are not numbers; export the filters again")
      }
      let count = contents.microphones.count
      taps.append(
        Taps((0..<outputs).map { Array(clip.channels[$0 * count..<($0 + 1) * count]) }))
    }
    self = contents.bank(taps, device: URL(fileURLWithPath: folder).lastPathComponent)
  }

  /// The name of each case's WAV file.
  var fileNames: [String] {
    var usedNames = Set<String>()
    return cases.map { coefficients in
      var file = Self.fileName(of: coefficients.filterCase)
      while !usedNames.insert(file).inserted { file = "\(usedNames.count)-\(file)" }
      return file
    }
  }

  /// Such as "front-stereo-portrait.wav": valid on any file system, whatever the name of the data source.
  private static func fileName(of filterCase: FilterCase) -> String {
    filterCase.words.map(plainName).joined(separator: "-") + ".wav"
  }

  /// `word` in lower case, with a hyphen for each character that is not an ASCII letter or digit; "-" if it is empty.
  static func plainName(_ word: String) -> String {
    let plain = word.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
    return plain.isEmpty ? "-" : String(plain)
  }
}
