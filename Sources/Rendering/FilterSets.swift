import Acoustics
import FilterBanks
import FilterDesign
import Numerics
import Realtime

/// The engine's filter sets for every case of one device at one sample rate.
public struct FilterSets: Sendable {
  public let bank: FilterBank
  private let sets: [FilterCase: FilterSet]

  public init(_ bank: FilterBank) {
    self.bank = bank
    sets = Dictionary(
      uniqueKeysWithValues: bank.cases.map {
        let channels = $0.filterCase.polarPattern.channels
        return ($0.filterCase, FilterSet(coefficients: $0.taps, channels: channels))
      })
  }

  /// Reads what ships or was designed before, or designs.
  /// - Throws: `DesignError.cancelled` where `cancellation` ended that.
  public init(
    device: Device, sampleRate: Int, cancellation: DesignCancellation? = nil,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws {
    self.init(
      try FilterBank.ready(
        device: device, sampleRate: sampleRate, cancellation: cancellation, progress: progress))
  }

  /// - Throws: `UnknownWord`, or `Unsupported` where the device does not offer `selection`, with what physics
  ///   say where it is for that.
  public func filters(for selection: Selection, of device: Device) throws -> FilterSet {
    let source = try device.dataSource(named: selection.dataSource)
    let wanted = FilterCase(
      dataSource: source.name, polarPattern: selection.polarPattern,
      inputOrientation: selection.inputOrientation)
    let offered = bank.offered(of: device)
    if let refusal = bank.refusals.first(where: { $0.filterCase == wanted }) {
      throw Unsupported(
        "data source \(source.name) of \(device.name) does not offer \(wanted.words): \(refusal.reason); it offers "
          + (try offered.dataSource(named: source.name)).offer)
    }
    let filterCase = try offered.filterCase(for: selection)
    guard let filters = sets[filterCase] else {
      throw Unsupported(
        "\(device.name) has no filters for \(filterCase.dataSource) \(filterCase.polarPattern.rawValue)")
    }
    return filters
  }

  /// An engine of the right size.
  public func makeEngine(preRoll: PreRoll? = nil, instructionSet: InstructionSet = .best) -> Engine {
    Engine(
      microphones: bank.microphones.count, taps: bank.tapCount, sampleRate: Double(bank.sampleRate),
      preRoll: preRoll, instructionSet: instructionSet)
  }
}

extension FilterCase {
  /// "stereo in portrait"
  fileprivate var words: String {
    polarPattern.rawValue + (inputOrientation.map { " in \($0.rawValue)" } ?? "")
  }
}

extension DataSource {
  /// "omnidirectional, stereo in landscapeLeft, stereo in landscapeRight"
  fileprivate var offer: String {
    let words = polarPatterns.flatMap { pattern in
      pattern == .stereo ? stereoOrientations.map { "stereo in \($0.rawValue)" } : [pattern.rawValue]
    }
    return words.isEmpty ? "nothing else" : words.joined(separator: ", ")
  }
}
