import Acoustics
import Manifolds

/// What all steps of the judgement of the wiring read.
struct WiringInputs {
  /// The device's microphone of each channel.
  let subset: [Int]
  let manifold: SubsetManifold
  let spectra: ShortTimeSpectra
  let events: SoundEvents
  let table: SteeringTable
  let isometries: [[Int]]
  /// Orders of the channels that the delays of the events fit.
  let likelyOrders: [[Int]]
  /// The events with the channels in the order given.
  let powers: SteeredPowers

  /// - Parameters:
  ///   - subset: the microphones judged, two and more.
  ///   - signals: theirs, with gains and polarities that the device states undone.
  init(
    _ device: Device, manifold: any ArrayManifold, subset: [Int], signals: [[Float]], sampleRate: Int
  ) {
    let microphones = subset.map { device.microphones[$0] }
    let levelBand = device.body == .free ? Thresholds.levelBand : Thresholds.levelBandOnBodies
    self.subset = subset
    self.manifold = SubsetManifold(manifold, subset: subset)
    spectra = ShortTimeSpectra(signals, sampleRate: sampleRate, highest: Thresholds.eventBand.upperBound)
    events = SoundEvents(
      spectra, levelBand: levelBand, delays: subset.map { device.deviations[$0].delay })
    table = SteeringTable(
      device, manifold: manifold, subset: subset, frequencies: events.frequencies, levelBand: levelBand)
    isometries = symmetries(of: microphones)
    likelyOrders =
      events.count < Thresholds.fewestEvents
      ? [] : DelayVectors(events, microphones.map(\.position)).orders(rank: table.rank, count: 24)
    powers = SteeredPowers(table, events, order: Array(subset.indices))
  }
}
