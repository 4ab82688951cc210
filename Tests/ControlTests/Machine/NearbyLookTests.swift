import Acoustics
import Messages
import Processor
import Settings
import Testing

@Suite("Looks that nobody has asked for yet") struct NearbyLookTests {
  /// Looks at `word`, whose own filters are there.
  private func looking(_ word: String, _ rig: Rig = .live()) -> Rig {
    rig.set(["look": word], gain: 1)
    rig.endDesign()
    rig.run(periods: 10)
    return rig
  }

  /// The azimuth of the look that is being designed, from the forward of the device with that case.
  private func azimuth(_ rig: Rig) -> Double? {
    rig.world.nearby.first.map {
      let source = Rig.home.dataSources[0]
      let frame = Rig.home.frame(of: source, .portrait)
      return Look($0.dataSources[0].forward, from: frame).azimuth.rounded()
    }
  }

  private func endNearby(_ rig: Rig, _ failure: Failure? = nil) {
    rig.world.endNearby(failure)
    rig.processor.poll()
  }

  @Test(
    "around a look those of a grid of 5 degrees are designed, the nearest first, each once, one at a time")
  func order() {
    let rig = looking("62")
    var azimuths: [Double] = []
    while let next = azimuth(rig) {
      #expect(rig.world.nearby.count == 1)
      azimuths.append(next)
      endNearby(rig)
    }
    #expect(azimuths.prefix(5) == [60, 65, 55, 70, 50])
    #expect(Set(azimuths) == Set(stride(from: -175.0, through: 180, by: 5)) && azimuths.count == 72)
    // Nothing is left to do until something else looks somewhere; then only what is new is designed.
    rig.run(periods: 10)
    #expect(rig.world.nearby.isEmpty)
    rig.set(["look": "120"], gain: 2)
    rig.run(periods: 10)
    #expect(
      rig.status.selection.effectiveLook == Look(azimuth: 120) && rig.world.designs.isEmpty
        && rig.world.nearby.isEmpty)
  }

  @Test("until a look is designed, one within 2.5 degrees plays, of those that are there already")
  func nearest() {
    let rig = looking("0")
    while !rig.world.nearby.isEmpty { endNearby(rig) }
    rig.set(["look": "-98"], gain: 2)
    rig.run(periods: 10)
    #expect(rig.status.selection.effectiveLook == Look(azimuth: -100) && !rig.world.designs.isEmpty)
  }

  @Test("a requested look is designed at once: what nobody waits for ends, and is taken up afterwards")
  func precedence() {
    let rig = looking("0")
    #expect(azimuth(rig) == 5 || azimuth(rig) == -5)
    rig.set(["look": "33"], gain: 2)
    rig.processor.poll()
    #expect(rig.world.designs.count == 1 && rig.world.nearby.isEmpty)
    rig.endDesign()
    rig.run(periods: 10)
    #expect(rig.status.selection.effectiveLook == Look(azimuth: 33) && azimuth(rig) == 35)
  }

  @Test("a take, a missing microphone, and the end of all looks end it")
  func end() {
    let rig = looking("60")
    let take = rig.record()
    rig.run(periods: 10)
    #expect(rig.world.nearby.isEmpty)
    rig.stopTake()
    rig.run(periods: 1)
    rig.finish(take)
    #expect(azimuth(rig) != nil)
    rig.set(["look": "off"], gain: 2)
    rig.run(periods: 10)
    endNearby(rig)
    #expect(rig.world.nearby.isEmpty)
  }

  @Test("a look that the array cannot favour is tried once")
  func impossible() {
    let rig = looking("60")
    #expect(azimuth(rig) == 55)
    endNearby(rig, Failure(.failed, "these microphones cannot do it"))
    rig.set(["look": "61"], gain: 2)
    rig.endDesign()
    rig.run(periods: 10)
    // The one that was under way, then those around the new look.
    var azimuths: [Double] = []
    while let next = azimuth(rig) {
      azimuths.append(next)
      endNearby(rig)
    }
    #expect(!azimuths.contains(55) && azimuths.count == 70)
  }
}
