import Acoustics
import Figures
import FilterBanks
import FilterDesign
import Glibc
import HeadResponses
import Messages
import Settings
import Threads
import WebPage

/// Polar patterns of the cases that were shown, computed from the filters that Pinna plays, and kept.
///
/// Thread: any that may wait; one computation at a time.
final class PolarCurves: Sendable {
  private struct Key: Hashable {
    let device: Device
    let without: Set<String>
    let sampleRate: Int
    let selection: Selection
  }

  private struct Document: Encodable {
    let dataSource: String
    let polarPattern: PolarPattern
    /// In degrees, counter-clockwise from the data source's forward, as the device is held.
    let azimuths: [Double]
    /// In hertz.
    let octaves: [Double]
    /// In dB, `[octave][output][azimuth]`.
    let levels: [[[Double]]]
    let targetLevels: [[[Double]]]
  }

  private static let mostKept = 64
  private let kept = Locked<[Key: String]>([:])
  private let computation = Locked(())

  /// - Throws: `Failure`, or a `DesignError`.
  func document(_ running: RunningDevice) throws -> String {
    let status = running.status
    let key = Key(
      device: running.device, without: Set(status.fallback?.without ?? []),
      sampleRate: status.sampleRate > 0 ? status.sampleRate : 48_000,
      selection: running.feed.selection)
    if let text = kept.withLock({ $0[key] }) { return text }
    return try computation.withLock { _ in
      if let text = kept.withLock({ $0[key] }) { return text }
      let text = try Self.compute(key)
      kept.withLock {
        if $0.count >= Self.mostKept { $0.removeAll() }
        $0[key] = text
      }
      return text
    }
  }

  private static func compute(_ key: Key) throws -> String {
    // Of this thread, which ends afterwards, and of those that it starts: sound comes first.
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    let selection = key.selection
    let source = try key.device.dataSource(named: selection.dataSource)
    // That of a look has a source of its own, along it; that of a pose has its listener.
    let device = try key.device.ownDevice(of: selection) ?? key.device
    let bank =
      key.without.isEmpty
      ? try FilterBank.ready(device: device, sampleRate: key.sampleRate)
      : try FilterBank.fallback(for: device, without: key.without, sampleRate: key.sampleRate)
    let filterCase = try device.filterCase(for: selection)
    guard let coefficients = bank.cases.first(where: { $0.filterCase == filterCase }) else {
      throw Failure(.unsupported, "\(device.name) has no filters for this case")
    }
    let pose = selection.polarPattern.isOriented ? selection.pose.ofAxes : .none
    let curves = try CaseCurves(
      coefficients, bank: bank, device: device, hrtf: HRTF(path: device.hrtf ?? HRTF.defaultPath),
      seenFrom: key.device.frame(of: source, selection.inputOrientation).turned(by: pose))
    func rounded(_ levels: [[[Double]]]) -> [[[Double]]] {
      levels.map { $0.map { $0.map { max(-99, ($0 * 10).rounded() / 10) } } }
    }
    return json(
      Document(
        dataSource: selection.dataSource, polarPattern: selection.polarPattern, azimuths: curves.azimuths,
        octaves: curves.octaves, levels: rounded(curves.levels), targetLevels: rounded(curves.targetLevels)))
  }
}
