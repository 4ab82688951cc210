import Acoustics
import FilterDesign
import FoundationEssentials
import HeadResponses
import Manifolds
import Numerics
import Presets

extension FilterBank {
  /// Shares of the steps in a design's progress.
  private static let manifoldShare = 0.0...0.12
  private static let hrtfShare = 0.12...0.15
  private static let sharedShare = 0.15...0.18
  private static let casesShare = 0.18...0.9
  private static let feasibilityShare = 0.9...1.0

  /// Designs all cases of the device on all cores. Cases whose filters do not do what their pattern is for become
  /// `refusals`.
  ///
  /// The design runs on threads of lower priority (`nice` 10), and the calling thread waits. Cases are designed in
  /// parallel. A multi-threaded OpenBLAS competes with them: with two OpenBLAS threads the design takes 1.5 times as
  /// long. This library does not change the setting of the process; `openblas_set_num_threads(1)` or
  /// OPENBLAS_NUM_THREADS=1 is best.
  /// - Parameters:
  ///   - sampleRate: 8000…192 000 Hz.
  ///   - near: filters of the same cases with a pose near that of the device, from which its stereo is designed.
  ///   - cancellation: ends the design within about half a second.
  ///   - progress: called with the fraction that is done, 0…1, from any thread; calls never overlap.
  /// - Throws: `DesignError.cancelled` if `cancellation` ended the design; another `DesignError` if the device, its
  ///   measurement or its HRTF cannot be used.
  public static func design(
    device: Device, sampleRate: Int, near: FilterBank? = nil, cancellation: DesignCancellation? = nil,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws(DesignError) -> FilterBank {
    try check(device, sampleRate: sampleRate)
    let step = DesignStep(cancellation: cancellation, report: progress)
    return try DesignThreads.run { () throws(DesignError) in
      try design(device: device, sampleRate: sampleRate, near: near, step: step)
    }
  }

  private static func design(
    device: Device, sampleRate: Int, near: FilterBank?, step: DesignStep
  ) throws(DesignError) -> FilterBank {
    try step.reached(0)
    let manifold = try lateManifold(for: device, step: step.within(manifoldShare))
    let grid = DesignGrid(
      sampleRate: sampleRate, parameters: device.design.grid, highestKnown: manifold.band.upperBound)
    let isStereo = device.filterCases.contains { $0.polarPattern == .stereo }
    try step.reached(hrtfShare.lowerBound)
    let hrtf =
      isStereo ? try HRTF(path: device.hrtf ?? HRTF.defaultPath, parameters: device.design.head) : nil
    let bank = FilterBank(
      device: device.name, sampleRate: sampleRate, microphones: device.microphones.map(\.name),
      delayFrames: grid.delayFrames, tapCount: grid.tapCount,
      cases: try cases(of: device, manifold: manifold, grid: grid, hrtf: hrtf, near: near, step: step))
    // A pose is offered wherever the case without one is.
    let isTurned = device.dataSources.contains { $0.pose != .none }
    let offered =
      isTurned
      ? bank
      : try bank.withoutInfeasible(
        device: device, manifold: manifold, hrtf: hrtf, step: step.within(feasibilityShare))
    try step.reached(1)
    return offered
  }

  /// The filters of all cases. What they share takes much memory, which is free afterwards.
  private static func cases(
    of device: Device, manifold: any ArrayManifold, grid: DesignGrid, hrtf: HRTF?, near: FilterBank?,
    step: DesignStep
  ) throws(DesignError) -> [FilterCoefficients] {
    let filterCases = device.filterCases
    let stereo: StereoDesign? =
      if let hrtf {
        try StereoDesign(
          hrtf: hrtf, grid: grid, parameters: device.design,
          step: step.within(hrtfShare.lowerBound + 0.01...hrtfShare.upperBound))
      } else { nil }
    let shared = try SharedManifold(
      manifold, sphere: sphere(of: device, around: stereo), frequencies: grid.frequencies,
      step: step.within(sharedShare))
    let designer = CaseDesigner(device: device, manifold: shared, grid: grid, stereo: stereo, near: near)
    let jobs = designer.jobs
    var results = [FilterCoefficients?](repeating: nil, count: filterCases.count)
    let steps = step.within(casesShare).divided(
      by: jobs.map { Double($0.count { filterCases[$0].polarPattern != .omnidirectional }) })
    for (job, step) in zip(jobs, steps) {
      let designed = try designer.coefficients(of: job.map { filterCases[$0] }, step: step)
      for (at, coefficients) in zip(job, designed) { results[at] = coefficients }
      try step.reached(1)
    }
    return results.compactMap(\.self)
  }

  /// The directions from which the device's cases share the responses of the array.
  private static func sphere(of device: Device, around stereo: StereoDesign?) -> [SIMD3<Double>] {
    if device.dataSources.contains(where: \.offersAmbisonics) { return AmbisonicsDesign.sphere }
    guard let stereo else { return cubedSphere(device.design.mono.directions) }
    // Those around a listener with a pose, for whom that one case is.
    if let source = device.dataSources.first(where: { $0.pose != .none }),
      let frame = source.stereoOrientations.first.flatMap(source.frame)
    {
      return stereo.directions.map(frame.device(fromHead:))
    }
    return stereo.directions
  }

  /// The array manifold with the delays of the microphones; their gains and polarities are undone afterwards.
  private static func lateManifold(
    for device: Device, step: DesignStep
  ) throws(DesignError) -> any ArrayManifold {
    let manifold = try manifold(for: device, step: step)
    guard device.deviations.contains(where: { $0.delay != 0 }) else { return manifold }
    return DeviatingManifold(manifold, deviations: device.deviations.map(\.delayOnly))
  }

  /// Throws if the sample rate, the parameters, or a device of which nothing is left make a design meaningless.
  static func check(_ device: Device, sampleRate: Int) throws(DesignError) {
    guard DesignGrid.sampleRates.contains(sampleRate) else {
      throw DesignError("filters cannot be designed for \(sampleRate) Hz; use 8000 to 192000 Hz")
    }
    if let (field, value) = DesignField.outOfRange(in: device.design) {
      throw DesignError(
        "\(field.name) of device \(device.name) is \(value); give \(field.allowed)")
    }
    guard !device.microphones.isEmpty, !device.dataSources.isEmpty else {
      throw DesignError("device \(device.name) needs at least one microphone and one data source")
    }
  }
}

/// Designs single cases of a device that `check` accepted.
private struct CaseDesigner: Sendable {
  let device: Device
  let manifold: any ArrayManifold
  let grid: DesignGrid
  /// Nil if the device has no stereo cases.
  let stereo: StereoDesign?
  let near: FilterBank?

  /// Memory for the array responses of parallel cases and those that they share, in bytes. Each takes 525 MB with 64
  /// microphones.
  private static let memoryLimit = 2 << 30

  /// Number of cases that may be designed in parallel.
  var threads: Int {
    let directions = max(device.design.stereo.directions, device.design.mono.directions)
    let bytes =
      device.microphones.count * grid.designedBinCount * directions * MemoryLayout<Complex>.stride
    return min(ProcessInfo.processInfo.activeProcessorCount, max(1, Self.memoryLimit / max(1, bytes) - 1))
  }

  /// What is designed at a time, on all cores: indices into the device's filter cases. Mono patterns of the same
  /// microphones share the responses of the array, and so do the stereo cases.
  var jobs: [[Int]] {
    let cases = device.filterCases
    func indices(_ isWanted: (FilterCase) -> Bool) -> [Int] { cases.indices.filter { isWanted(cases[$0]) } }
    var seen: Set<[Int]> = []
    let mono = device.dataSources.map { $0.microphones.sorted() }.filter { seen.insert($0).inserted }
      .map { channels in
        indices { !$0.polarPattern.isOriented && source(of: $0).microphones.sorted() == channels }
      }
    let ambisonics = indices { $0.polarPattern.ambisonicsOrder != nil }.map { [$0] }
    return (mono + [indices { $0.polarPattern == .stereo }] + ambisonics).filter { !$0.isEmpty }
  }

  private func source(of filterCase: FilterCase) -> DataSource {
    device.dataSources.first { $0.name == filterCase.dataSource }!
  }

  /// Designs the filters of a job's cases, scaled so that a voice straight ahead is equally loud in all cases of the
  /// device: as loud as at one microphone in the free field. The W of B-format is that by itself.
  func coefficients(of cases: [FilterCase], step: DesignStep) throws(DesignError) -> [FilterCoefficients] {
    if let order = cases[0].polarPattern.ambisonicsOrder {
      let design = AmbisonicsDesign(
        manifold: manifold, frame: source(of: cases[0]).frame(cases[0].inputOrientation!)!, order: order,
        grid: grid)
      let (taps, origin) = try design.filters(step: step)
      return [FilterCoefficients(filterCase: cases[0], taps: taps, origin: origin)]
    }
    let unscaled = try unscaledTaps(of: cases, step: step)
    // One request for all directions ahead: boxes take as long for one as for many.
    let directions = cases.map { filterCase in
      let source = source(of: filterCase)
      return (filterCase.inputOrientation.map { source.frame($0)!.forward } ?? source.forward).vector
    }
    let distinct = Array(Set(directions))
    let ahead = manifold.responses(from: distinct, frequencies: grid.frequencies)
    let speech = SpeechLoudness(frequencies: grid.frequencies)
    return cases.indices.map { number in
      let taps = unscaled[number]
      let response = FilterResponse(
        taps: taps, sampleRate: grid.sampleRate, delayFrames: grid.delayFrames, frequencies: grid.frequencies)
      let own = ahead.selecting(directions: [distinct.firstIndex(of: directions[number])!])
      let loudness = speech.power(response.outputs(own))
      // Filters without any response ahead are left alone; they are not offered.
      let scaled = loudness > 1e-6 ? taps.scaled(by: Float(1 / loudness.squareRoot())) : taps
      return FilterCoefficients(filterCase: cases[number], taps: scaled)
    }
  }

  private func unscaledTaps(of cases: [FilterCase], step: DesignStep) throws(DesignError) -> [Taps<Float>] {
    if cases[0].polarPattern == .stereo {
      return try stereo!.filters(
        manifold: manifold,
        cases.map { filterCase in
          (
            source(of: filterCase).frame(filterCase.inputOrientation!)!,
            near?.coefficients(for: filterCase)?.taps
          )
        }, threads: threads, step: step)
    }
    // The omnidirectional pattern of directional capsules takes all of them.
    let directional = cases.filter {
      $0.polarPattern != .omnidirectional
        || device.microphones[source(of: $0).microphones[0]].capsule != nil
    }
    let channels = source(of: cases[0]).microphones.sorted()
    let filters =
      directional.isEmpty
      ? []
      : try MonoDesign(device: device, channels: channels, manifold: manifold).filters(
        directional.map {
          (
            $0.polarPattern.omnidirectionalPart!, source(of: $0).forward.vector,
            source(of: $0).microphones
          )
        }, grid: grid, step: step)
    return cases.map { filterCase in
      let microphones = source(of: filterCase).microphones
      var taps = Taps<Float>(outputs: 2, microphones: device.microphones.count, length: grid.tapCount)
      let at = directional.firstIndex(of: filterCase)
      for output in 0..<2 {
        guard let at else {
          taps[output, microphones[0], grid.delayFrames] = 1
          continue
        }
        for (number, microphone) in channels.enumerated() {
          taps[output, microphone] = filters[at][0, number]
        }
      }
      return taps
    }
  }
}
