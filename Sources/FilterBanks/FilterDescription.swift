import Acoustics
import AudioFiles
import FilterDesign
import FoundationEssentials
import Measurements
import Numerics
import Settings
import Text

/// What the JSON beside the taps of a filter bank says: `filters.json` in a folder of exported filters, with a WAV file
/// for each case, and `NAME.json` of a stored set, whose taps are all in `NAME.wav`.
struct FilterDescription: Codable {
  struct Case: Codable {
    let dataSource: String
    let polarPattern: PolarPattern
    /// Null for mono patterns.
    let inputOrientation: InputOrientation?
    /// Absent for a case of the device's own.
    let look: Look?
    /// Absent in a stored set.
    let file: String?
    let delayFrames: Int
    /// Of B-format, in metres in the device frame: x, y, z. Absent for other patterns.
    let origin: [Double]?

    init(_ coefficients: FilterCoefficients, file: String? = nil, delayFrames: Int) {
      let filterCase = coefficients.filterCase
      dataSource = filterCase.dataSource
      polarPattern = filterCase.polarPattern
      inputOrientation = filterCase.inputOrientation
      look = filterCase.look
      self.file = file
      self.delayFrames = delayFrames
      origin = coefficients.origin.map { [$0.x, $0.y, $0.z] }
    }

    var filterCase: FilterCase {
      FilterCase(
        dataSource: dataSource, polarPattern: polarPattern, inputOrientation: inputOrientation, look: look)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(dataSource, forKey: .dataSource)
      try container.encode(polarPattern, forKey: .polarPattern)
      try container.encode(inputOrientation, forKey: .inputOrientation)
      try container.encodeIfPresent(look, forKey: .look)
      try container.encodeIfPresent(file, forKey: .file)
      try container.encode(delayFrames, forKey: .delayFrames)
      try container.encodeIfPresent(origin, forKey: .origin)
    }

    func coefficients(_ taps: Taps<Float>) -> FilterCoefficients {
      FilterCoefficients(
        filterCase: filterCase, taps: taps,
        origin: origin.flatMap { $0.count == 3 ? Position($0[0], $0[1], $0[2]) : nil })
    }
  }

  /// A feed of the preset that was exported.
  struct Feed: Codable {
    let name: String
    /// Of its outputs, in the order of the file's.
    let outputs: [String]
    let file: String?
    let gainDB: Double
    /// Null if it is off.
    let highPassHz: Double?

    init(_ feed: FeedSetting, in cases: [Case]) {
      name = feed.name
      outputs = feed.portNames
      file = cases.first { $0.filterCase == feed.selection.filterCase }?.file
      gainDB = feed.gain.value
      highPassHz = feed.highPass.frequency?.value
    }
  }

  struct Remark: Codable {
    let dataSource: String
    let polarPattern: PolarPattern
    /// Absent for mono patterns.
    let inputOrientation: InputOrientation?
    /// Absent for a case of the device's own.
    let look: Look?
    let reason: String

    init(_ remark: CaseRemark) {
      dataSource = remark.filterCase.dataSource
      polarPattern = remark.filterCase.polarPattern
      inputOrientation = remark.filterCase.inputOrientation
      look = remark.filterCase.look
      reason = remark.text
    }

    var remark: CaseRemark {
      CaseRemark(
        filterCase: FilterCase(
          dataSource: dataSource, polarPattern: polarPattern, inputOrientation: inputOrientation,
          look: look),
        text: reason)
    }
  }

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
  /// Absent without feeds, and in a stored set.
  var feeds: [Feed]?
  /// Of a stored set: the number of taps of each filter.
  var taps: Int?
  /// Of a stored set: of the taps, and of all else that stands here.
  var checksum: String?

  init(_ bank: FilterBank, cases: [Case]) {
    format = Self.currentFormat
    device = bank.device
    sampleRate = bank.sampleRate
    microphones = bank.microphones
    self.cases = cases
    notOffered = bank.refusals.isEmpty ? nil : bank.refusals.map(Remark.init)
    weak = bank.weaknesses.isEmpty ? nil : bank.weaknesses.map(Remark.init)
    remarks = bank.remarks.isEmpty ? nil : bank.remarks
  }

  /// The longest description: many times that of any device.
  private static let longest = 4 << 20

  /// - Throws: an error that names the file, if it is missing or malformed.
  init(path: String) throws {
    guard
      let text = try? InputFile(path: path, kind: "a description of filters", sizeLimit: Self.longest).bytes()
    else {
      throw DesignError("cannot read \(path); point to a folder of exported filters")
    }
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(text))
    } catch {
      // Foundation quotes the file as it is.
      let reason = "\(error)".printable(limit: 300)
      throw DesignError("\(path) is not a description of filters (\(reason)); export them again")
    }
    guard format ?? Self.currentFormat == Self.currentFormat else {
      throw DesignError(
        "\(path) has format \(format ?? 0), and this Pinna reads \(Self.currentFormat); export the filters "
          + "again with this Pinna")
    }
    guard !cases.isEmpty || notOffered?.isEmpty == false, !microphones.isEmpty,
      DesignGrid.sampleRates.contains(sampleRate)
    else {
      throw DesignError(
        "\(path) lists no cases or no microphones, or a sample rate that filters cannot have; export the filters "
          + "again")
    }
  }

  func write(_ path: String) throws {
    try OutputFile(path, replacing: true).write(encoded() + Data("\n".utf8))
  }

  private func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// - Parameter samples: the taps as they stand in the WAV file.
  func checksum(of samples: [Float]) throws -> String {
    var others = self
    others.checksum = nil
    var hash = ContentHash()
    hash.add(try others.encoded())
    samples.withUnsafeBytes { hash.add($0) }
    return hash.digits
  }

  /// The number of frames by which all cases are delayed.
  var delayFrames: Int { cases.first?.delayFrames ?? DesignGrid(sampleRate: sampleRate).delayFrames }

  /// - Parameter device: its name, if the description has none.
  func bank(_ taps: [Taps<Float>], device: String) -> FilterBank {
    FilterBank(
      device: self.device ?? device, sampleRate: sampleRate, microphones: microphones,
      delayFrames: delayFrames,
      tapCount: taps.first?.length ?? DesignGrid(sampleRate: sampleRate).tapCount,
      cases: zip(cases, taps).map { $0.coefficients($1) },
      refusals: (notOffered ?? []).map(\.remark), weaknesses: (weak ?? []).map(\.remark),
      remarks: remarks ?? [])
  }
}
