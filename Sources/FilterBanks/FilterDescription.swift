import Acoustics
import AudioFiles
import FilterDesign
import FoundationEssentials
import Glibc
import Numerics
import Text

/// The contents of `filters.json`, which describes a filter bank in a folder of WAV files.
private struct FilterFolder: Codable {
  struct Case: Codable {
    let dataSource: String
    let polarPattern: PolarPattern
    /// Null for mono patterns.
    let inputOrientation: InputOrientation?
    let file: String
    let delayFrames: Int

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(dataSource, forKey: .dataSource)
      try container.encode(polarPattern, forKey: .polarPattern)
      try container.encode(inputOrientation, forKey: .inputOrientation)
      try container.encode(file, forKey: .file)
      try container.encode(delayFrames, forKey: .delayFrames)
    }
  }

  struct Remark: Codable {
    let dataSource: String
    let polarPattern: PolarPattern
    /// Absent for mono patterns.
    let inputOrientation: InputOrientation?
    let reason: String

    init(_ remark: CaseRemark) {
      dataSource = remark.filterCase.dataSource
      polarPattern = remark.filterCase.polarPattern
      inputOrientation = remark.filterCase.inputOrientation
      reason = remark.text
    }

    var remark: CaseRemark {
      CaseRemark(
        filterCase: FilterCase(
          dataSource: dataSource, polarPattern: polarPattern, inputOrientation: inputOrientation),
        text: reason)
    }
  }

  static let name = "filters.json"
  static let currentFormat = 1

  /// Version of this format; absent in folders that were written before versions, or by another program.
  let format: Int?

  /// Absent if another program wrote the folder.
  let device: String?
  let sampleRate: Int
  let microphones: [String]
  let cases: [Case]
  /// Absent if every case is offered, or if another program wrote the folder.
  let notOffered: [Remark]?
  /// Cases that are offered but weak; absent if there are none, or if another program wrote the folder.
  let weak: [Remark]?
  /// What the reader must know about all cases; absent if there is nothing.
  let remarks: [String]?
}

extension FilterBank {
  /// Writes `filters.json` and one 32-bit float WAV file per case into `folder`, and creates the folder if necessary.
  ///
  /// Each WAV file has one frame per tap; channel = output × microphone count + microphone. `filters.json` is written
  /// last, so that it never describes files that are missing.
  public func write(folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var written: [FilterFolder.Case] = []
    for (coefficients, file) in zip(cases, fileNames) {
      let filterCase = coefficients.filterCase
      let clip = AudioClip(sampleRate: sampleRate, channels: coefficients.taps.channels)
      try clip.write(wav: "\(folder)/\(file)")
      written.append(
        FilterFolder.Case(
          dataSource: filterCase.dataSource, polarPattern: filterCase.polarPattern,
          inputOrientation: filterCase.inputOrientation, file: file, delayFrames: delayFrames))
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let contents = FilterFolder(
      format: FilterFolder.currentFormat, device: device, sampleRate: sampleRate, microphones: microphones,
      cases: written,
      notOffered: refusals.isEmpty ? nil : refusals.map(FilterFolder.Remark.init),
      weak: weaknesses.isEmpty ? nil : weaknesses.map(FilterFolder.Remark.init),
      remarks: remarks.isEmpty ? nil : remarks)
    let json = try encoder.encode(contents) + Data("\n".utf8)
    try json.write(to: URL(fileURLWithPath: "\(folder)/\(FilterFolder.name)"), options: .atomic)
  }

  /// Reads a folder that `write` wrote.
  /// - Throws: an error that names the file, if one is missing, malformed or inconsistent with the others.
  public init(folder: String) throws {
    let path = "\(folder)/\(FilterFolder.name)"
    guard let data = FileManager.default.contents(atPath: path) else {
      throw DesignError("cannot read \(path); point to a folder of exported filters")
    }
    let contents: FilterFolder
    do {
      contents = try JSONDecoder().decode(FilterFolder.self, from: data)
    } catch {
      throw DesignError("\(path) is not a description of filters (\(error)); export them again")
    }
    guard contents.format ?? FilterFolder.currentFormat == FilterFolder.currentFormat else {
      throw DesignError(
        "\(path) has format \(contents.format ?? 0), and this Pinna reads \(FilterFolder.currentFormat); export the filters "
          + "again with this Pinna")
    }
    let refusals = (contents.notOffered ?? []).map(\.remark)
    guard !contents.cases.isEmpty || !refusals.isEmpty, !contents.microphones.isEmpty,
      DesignGrid.sampleRates.contains(contents.sampleRate)
    else {
      throw DesignError(
        "\(path) lists no cases or no microphones, or a sample rate that filters cannot have; export the filters "
          + "again")
    }
    let grid = DesignGrid(sampleRate: contents.sampleRate)
    let delayFrames = contents.cases.first?.delayFrames ?? grid.delayFrames
    var cases: [FilterCoefficients] = []
    for entry in contents.cases {
      guard !entry.file.isEmpty, !entry.file.contains("/"), !entry.file.hasPrefix(".") else {
        throw DesignError(
          "\(path) names \"\(entry.file)\", which is not a file beside it; export the filters again")
      }
      let clip = try AudioClip(path: "\(folder)/\(entry.file)")
      let expected = 2 * contents.microphones.count
      guard clip.sampleRate == contents.sampleRate, clip.channels.count == expected,
        clip.frames == cases.first?.taps.length ?? clip.frames, entry.delayFrames == delayFrames,
        (0..<max(1, clip.frames)).contains(entry.delayFrames)
      else {
        throw DesignError(
          "\(folder)/\(entry.file) does not have the \(expected) channels, rate or length that \(path) and the "
            + "other filters say; export the filters again")
      }
      guard clip.channels.allSatisfy({ $0.allSatisfy(\.isFinite) }) else {
        throw DesignError("\(folder)/\(entry.file) holds taps that are not numbers; export the filters again")
      }
      let half = contents.microphones.count
      cases.append(
        FilterCoefficients(
          filterCase: FilterCase(
            dataSource: entry.dataSource, polarPattern: entry.polarPattern,
            inputOrientation: entry.inputOrientation),
          taps: [Array(clip.channels[..<half]), Array(clip.channels[half...])]))
    }
    self.init(
      device: contents.device ?? URL(fileURLWithPath: folder).lastPathComponent,
      sampleRate: contents.sampleRate, microphones: contents.microphones, delayFrames: delayFrames,
      tapCount: cases.first?.taps.length ?? grid.tapCount, cases: cases, refusals: refusals,
      weaknesses: (contents.weak ?? []).map(\.remark), remarks: contents.remarks ?? [])
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
