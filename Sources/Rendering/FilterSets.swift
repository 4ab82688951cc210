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
        let outputs = $0.filterCase.polarPattern.outputs
        return ($0.filterCase, FilterSet(coefficients: Array($0.taps.filters.prefix(outputs))))
      })
  }

  /// Takes the filters that ship with the device or are cached, or else designs them; see `FilterBank.ready`.
  /// - Throws: `DesignError.cancelled` if `cancellation` ended the design; another `DesignError` if the filters cannot
  ///   be designed.
  public init(
    device: Device, sampleRate: Int, cancellation: DesignCancellation? = nil,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws {
    self.init(
      try FilterBank.ready(
        device: device, sampleRate: sampleRate, cancellation: cancellation, progress: progress))
  }

  /// The filter sets for as long as some microphones of `device` do not work; see `FilterBank.fallback`.
  /// - Parameter missing: names of microphones of `device`.
  /// - Throws: as above.
  public init(
    fallbackFor device: Device, without missing: Set<String>, sampleRate: Int,
    cancellation: DesignCancellation? = nil, progress: (@Sendable (Double) -> Void)? = nil
  ) throws {
    self.init(
      try FilterBank.fallback(
        for: device, without: missing, sampleRate: sampleRate, cancellation: cancellation, progress: progress)
    )
  }

  /// The filter set of the only case; nil if there are others, or none.
  var only: FilterSet? { sets.count == 1 && bank.refusals.isEmpty ? sets.first?.value : nil }

  /// The filter set for `selection`.
  /// - Throws: `UnknownWord` for an unknown data source; `Unsupported` if `device` does not offer `selection`. If no
  ///   filters make the case work, its message contains the text of the refusal.
  public func filters(for selection: Selection, of device: Device) throws -> FilterSet {
    let source = try device.dataSource(named: selection.dataSource)
    let wanted = FilterCase(
      dataSource: source.name, polarPattern: selection.polarPattern,
      inputOrientation: selection.inputOrientation)
    let offered = bank.offered(of: device)
    if let refusal = bank.refusals.first(where: { $0.filterCase == wanted }) {
      // A device for B-format has that case alone: the refusal says which orders are offered.
      let others =
        wanted.polarPattern.ambisonicsOrder != nil
        ? "" : "; it offers " + (try offered.dataSource(named: source.name)).offeredPatterns
      throw Unsupported(
        "data source \(source.name) of \(device.name) does not offer \(wanted.patternTitle): \(refusal.text)\(others)"
      )
    }
    let filterCase = try offered.filterCase(for: selection)
    guard let filters = sets[filterCase] else {
      throw Unsupported(
        "\(device.name) has no filters for \(filterCase.dataSource) \(filterCase.polarPattern.rawValue)")
    }
    return filters
  }

  /// Filters that play one microphone on both outputs, as late as all others play.
  /// - Throws: `UnknownWord` if the bank has no such microphone.
  public func filters(listeningTo microphone: String) throws(UnknownWord) -> FilterSet {
    guard let index = bank.microphones.firstIndex(of: microphone) else {
      throw UnknownWord(kind: "microphone", word: microphone, choices: bank.microphones)
    }
    var taps = [[Float]](
      repeating: [Float](repeating: 0, count: bank.tapCount), count: bank.microphones.count)
    taps[index][bank.delayFrames] = 1
    return FilterSet(coefficients: [taps])
  }

  /// Makes an engine for the bank's number of microphones, filter length and sample rate.
  /// - Parameter adapts: as in `Engine.init`.
  public func makeEngine(
    preRoll: PreRoll? = nil, instructionSet: InstructionSet = .best, adapts: Bool = false
  ) -> Engine {
    Engine(
      microphones: bank.microphones.count, taps: bank.tapCount, sampleRate: Double(bank.sampleRate),
      preRoll: preRoll, instructionSet: instructionSet, adapts: adapts)
  }
}

extension FilterCase {
  /// "stereo in portrait"
  fileprivate var patternTitle: String {
    polarPattern.phrase + (inputOrientation.map { " in \($0.rawValue)" } ?? "")
  }
}

extension DataSource {
  /// "omnidirectional, stereo in landscapeLeft, stereo in landscapeRight"
  fileprivate var offeredPatterns: String {
    let words = polarPatterns.flatMap { pattern in
      pattern.isOriented
        ? stereoOrientations.map { "\(pattern.rawValue) in \($0.rawValue)" } : [pattern.rawValue]
    }
    return words.isEmpty ? "nothing else" : words.joined(separator: ", ")
  }
}
