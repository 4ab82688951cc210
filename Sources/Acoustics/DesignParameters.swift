/// Every tuning constant of the filter designs: what may differ from device to device while the method stays the same.
///
/// `init(body:)` gives the values of a body. Only `tools/tune` overrides them (`DesignField`). The cache key of filters
/// (`DesignKey`) includes all `values`, so a field that is added here becomes part of it automatically. A change of a *method* (a formula, a quadrature, a solver) is not visible in `values`; it needs a new
/// `DesignKey.designVersion`.
///
/// Values without a cited source were found by trial on the shipped devices, judged by their table of figures
/// (`make figures`). docs/decisions.md records what else was tried.
public struct DesignParameters: Hashable, Sendable {
  public var grid = Grid()
  public var box = Box()
  public var measured = Measured()
  public var head = Head()
  public var stereo = Stereo()
  public var joint = Joint()
  public var mono = Mono()
  public var truncation = Truncation()

  /// The defaults of a rigid sphere and of a measured body.
  public init() {}

  /// The defaults of `body`.
  public init(body: Body) { body.shape.setDefaults(of: &self) }

  /// All values with their names, such as "stereo.rearGain", in the order of declaration. They are found by
  /// reflection, so none can be missing.
  public var values: [(name: String, value: String)] {
    Mirror(reflecting: self).children.flatMap { group -> [(name: String, value: String)] in
      let name = group.label ?? ""
      let fields = Mirror(reflecting: group.value).children
      if fields.isEmpty { return [(name, "\(group.value)")] }
      return fields.map { ("\(name).\($0.label ?? "")", "\($0.value)") }
    }
  }
}

extension DesignParameters {
  /// Lengths of the filters and of the FFT that they are designed with. Numbers of frames apply to 48 kHz: filter
  /// length and delay scale with the sample rate.
  public struct Grid: Hashable, Sendable {
    /// FFT length in frames; even. Doubled for each octave of sample rates above 48 kHz.
    public var transformLength = 1024
    /// Length of the finished filters in frames: 5.3 ms. A multiple of 8, which suits the engine's SIMD vectors.
    public var tapCount = 256
    /// Modelling delay in frames: 1.3 ms, the latency that Pinna reports.
    public var delay = 64
    /// Bins above this frequency are not designed: they keep the magnitude of the highest designed bin.
    public var highestFrequency = Hertz(20_000)
    /// Fraction of a filter's length over which its end fades out.
    public var fadeOut = 0.0625
    /// Fraction of the modelling delay over which a filter fades in. The fade-in is never longer than the fade-out.
    public var fadeIn = 0.5

    public init() {}
  }

  /// The boundary element model of a box that designs use. Reports and simulations have a mesh of their own.
  public struct Box: Hashable, Sendable {
    /// Mean panel width in metres: about a third of the wavelength at 24 kHz.
    public var panelWidth: Double
    /// Maximum number of panels per octant. Panels are widened to stay within it.
    public var maximumPanelCount = 800
    /// Grading of the mesh towards the edges, where the pressure varies fastest: 0 gives panels of equal width.
    public var edgeGrading = 0.6
    /// CHIEF points inside an octant, at which the pressure must vanish. Source: Schenck (1968).
    public var interiorPoints = 16
    /// CHIEF points are used from this fraction of the first interior resonance.
    public var resonanceMargin = 0.85
    /// The box is solved up to this frequency.
    public var highestFrequency = Hertz(24_000)
    /// Number of solved frequencies for each 0.35 m of the box's diagonal, rounded up; even. More frequencies resolve
    /// longer impulse responses.
    public var frequencyCount = 64

    public init(panelWidth: Double = 0.0045) { self.panelWidth = panelWidth }
  }

  /// How an array manifold is computed from a measurement.
  public struct Measured: Hashable, Sendable {
    /// Maximum order of the spherical harmonics that interpolate between measured directions.
    public var highestOrder = 20
    /// Maximum number of harmonics per measured direction. It lowers the order if there are few directions.
    public var harmonicsPerDirection = 0.7
    /// Cost of a harmonic of degree l: `roughness` × (`roughnessOfMean` + (l(l+1))²). Source: Wahba (1981).
    public var roughness = 1e-6
    public var roughnessOfMean = 0.1
    /// Responses below this frequency are extrapolated, with constant magnitude and linear phase.
    public var lowestFrequency = Hertz(200)
    /// Responses above this fraction of the measurement's Nyquist frequency are extrapolated: only the plane-wave lead
    /// of each microphone changes.
    public var nyquistFraction = 0.9

    public init() {}
  }

  /// How the listener's HRTFs are computed from a SOFA file.
  public struct Head: Hashable, Sendable {
    /// Order of the spherical harmonics that interpolate between measured directions.
    public var order = 18
    /// Cost of a harmonic of degree l: `roughness` × (`roughnessOfMean` + l(l+1)).
    public var roughness = 1e-5
    public var roughnessOfMean = 1e-3
    /// Responses above this fraction of the measurement's Nyquist frequency are extrapolated: only the delay changes.
    public var nyquistFraction = 0.92
    /// Distance of the ears from the head's centre for the ear alignment, in metres: 15 % more than a head radius of
    /// 87.5 mm, because sound travels around the head. Source: Ben-Hur et al. (2019).
    public var earDistance = 0.0875 * 1.15
    /// Responses at and below this frequency are extrapolated: the KEMAR measurement has little energy there.
    public var lowestMeasured = Hertz(187.5)
    /// Frequency at which the phase slope for the extrapolation is read.
    public var phaseReference = Hertz(421.875)
    /// Frequency spacing of the diffuse-field equalisation table.
    public var equalisationStep = Hertz(46.875)
    /// The equalisation gain is constant above this frequency.
    public var highestEqualised = Hertz(17_000)
    /// Width over which the equalisation is smoothed, in octaves.
    public var smoothing = 1.0 / 3

    public init() {}
  }

  /// The target of stereo, its tone, and its noise gain limits.
  public struct Stereo: Hashable, Sendable {
    /// Approximate number of design directions, evenly spread over the sphere (`cubedSphere`).
    public var directions = 1200
    /// Gain of sound from straight behind relative to that from the front.
    public var rearGain = Decibels(-6)
    /// Directions within `frontAngle` of straight ahead count this much more than others in least squares.
    public var frontWeight = 3.0
    public var frontAngle = Angle.degrees(30)
    /// How much of the error of tone in front and in the diffuse field is corrected, as a part of its logarithm.
    public var toneCorrection = 1.0
    /// Noise gain limit of each bin's weights in the first round of the design.
    public var noiseGainLimit = Decibels(10)
    /// Noise gain limit of the finished filters from `lowestNoise` to `highestNoise`.
    public var finishedNoiseGain = Decibels(10.3)
    public var lowestNoise = Hertz(100)
    public var highestNoise = Hertz(16_000)
    /// Where the finished filters exceed their limit, the limits of these bins are lowered by the excess plus
    /// `tighteningMargin`, and the design is repeated: at most `tightenings` times.
    public var tightenings = 5
    public var tighteningMargin = Decibels(0.1)
    /// Number of bins on either side of such a bin whose limits are lowered, too.
    public var tighteningReach = 3
    /// No bin's limit is lowered below this.
    public var minimumNoiseGainLimit = Decibels(5)
    /// Smallest regulariser, relative to the mean eigenvalue of the covariance.
    public var minimumRegulariser = 1e-3
    /// Maximum factor by which each correction of tone raises or lowers a bin's weights: 12 dB.
    public var scalingLimit = 4.0
    /// Cases in which a voice from a side is heard less far out are not offered; see `Lateralisation`.
    public var minimumAngle = Angle.degrees(CaseCriteria.leastSide.degrees + CaseCriteria.angleMargin.degrees)

    public init() {}
  }

  /// The cost that stereo minimises (`BinauralCost`): the sectors in which both ears are compared with the target, and
  /// the weights of its terms. They were found on thirteen devices by hand; `tools/tune` searches around them
  /// over drawn ones (tools/tune.md).
  public struct Joint: Hashable, Sendable {
    /// Number of sectors around the horizon, and the sum of their weights.
    public var horizonSectors = 36
    public var horizonWeight = 18.0
    /// Number of sectors at `elevation` above the horizon. There are as many below it.
    public var raisedSectors = 6
    public var elevation = Angle.degrees(40)
    /// Weight of each sector off the horizon, including the zenith and the nadir.
    public var raisedWeight = 0.4
    /// Factor on the weights of sectors behind the listener, from 150° on.
    public var rearWeight = 3.0
    /// Factor on the weights of sectors within 25° of straight ahead.
    public var frontWeight = 5.0
    /// Factor on the weights of sectors within 25° of either side, above `crossCorner`: levels place voices there. Below
    /// it, it would make time differences jump between the front and the sides.
    public var highSideWeight = 2.0
    /// Concentration κ of the von Mises–Fisher weights of the directions in a sector, on and off the horizon.
    public var concentration = 120.0
    public var raisedConcentration = 25.0
    /// Weight of one more sector, the whole sphere: the diffuse field.
    public var diffuseWeight = 3.0
    /// Added to all energies, as a fraction of the target's mean energy, so that errors of much lower energies do not
    /// matter.
    public var floor = 1e-2
    /// Weights of the squared errors of each ear's level and of their difference, the interaural level difference.
    public var levelWeight = 10.0
    public var differenceWeight = 40.0
    /// Weight of the squared error of the log ratio of the energy from straight ahead to that from straight behind, up to
    /// `crossCorner`. Above it, the weight falls with the frequency: octaves count alike, however many bins they have.
    public var frontBackWeight = 12.0
    /// Weight of the squared error of the interaural cross-spectrum, up to `crossCorner`. Above it, the weight falls with
    /// the power `crossDecay` of the frequency, to `highCrossWeight`: listeners cease to follow the interaural phase
    /// there (Rayleigh, 1907).
    public var crossWeight = 60.0
    public var crossCorner = Hertz(1500)
    public var crossDecay = 4.0
    public var highCrossWeight = 0.3
    /// Weight of the error of complex least squares up to `crossCorner`. Above it, the weight falls linearly to 0 at
    /// `highestLeastSquares`.
    public var leastSquaresWeight = 5.0
    /// Weight of the squared distance from the weights of the bin below, relative to their energy.
    public var smoothness = 0.3
    /// Energy of each microphone's own errors, relative to what it hears of a sector.
    public var robustness = 0.005
    /// Weight of the squared log excess of noise gain above its limit.
    public var noiseWeight = 50.0
    /// Maximum number of iterations per bin. Usually 5 to 10 are enough. A search that ends before it converges ends at
    /// a point that depends on rounding.
    public var iterations = 200

    /// The term of least squares ends here.
    public var highestLeastSquares: Hertz { Hertz(2 * crossCorner.value) }
    /// Below it, where listeners follow the interaural phase, the design also starts from the weights of least squares.
    public var highestStart: Hertz { Hertz(1.2 * crossCorner.value) }

    public init() {}
  }

  /// The design of first-order patterns.
  public struct Mono: Hashable, Sendable {
    /// Approximate number of design directions, evenly spread over the sphere (`cubedSphere`).
    public var directions = 1200
    /// Array size 2π × radius / wavelength above which only magnitudes are matched, with the RMS distance of the
    /// microphones from their centroid as radius: 1.2 kHz for a ring of 43 mm.
    public var crossoverSize = 0.95
    /// Upper limit of that crossover.
    public var highestCrossover = Hertz(8000)
    /// Minimum white-noise gain of every bin. Source: Cox, Zeskind and Owen (1987) for the constraint.
    public var whiteNoiseGainFloor = Decibels(-10)
    /// Where the on-axis response is below the diffuse-field response, equalisation raises it by at most the inverse of
    /// this (6 dB), or to a diffuse-field response of 0 dB if that is more.
    public var minimumOnAxis = 0.5
    /// Minimum correlation of a target with the microphone responses, as an amplitude ratio to its upper bound. Below
    /// it, a bin's weights are zero: for a figure of eight at 0 Hz, for example, they would be rounding errors.
    public var minimumCorrelation = 1e-6
    /// Where the noise constraint widens a pattern, the design aims at a narrower one: its omnidirectional part α is
    /// lowered in these steps.
    public var omnidirectionalStep = 0.02
    /// The smallest α that is aimed at.
    public var minimumOmnidirectionalPart = 0.1
    /// Iterations of magnitude least squares per bin.
    public var magnitudePasses = 8
    /// The same for the first bin above the crossover, while candidates for its initial phases are compared and where
    /// those of a microphone are chosen.
    public var firstMagnitudePasses = 60
    /// Candidates for the initial phases are compared on every `startComparisonStride`-th bin, up to `highestStartComparison`.
    public var startComparisonStride = 6
    public var highestStartComparison = Hertz(12_000)
    /// Minimum reduction of the mean log pattern error for which the phases of a microphone replace those of the bin
    /// below. Replacing them makes the phases jump at the crossover.
    public var minimumStartImprovement = Decibels(0.5)
    /// Minimum reduction of the same error, as a natural logarithm, for which one microphone is preferred to another.
    /// It is larger than rounding errors.
    public var startTieMargin = 1e-3
    /// Smallest regulariser below the crossover, relative to the largest eigenvalue of the covariance.
    public var minimumRegulariser = 1e-9
    /// The same above the crossover.
    public var minimumMagnitudeRegulariser = 1e-4
    /// Minimum front/back ratio of the finished filters, octaves weighted by speech importance. Directional patterns
    /// below it are not offered.
    public var minimumFrontBack = Decibels(3)

    public init() {}
  }

  /// The correction of first-order patterns after their filters were truncated (`TruncationRepair`).
  public struct Truncation: Hashable, Sendable {
    /// The correction is a sum of cosines up to this frequency.
    public var highestCosine = Hertz(6000)
    /// The correction is fitted to bins up to this frequency.
    public var highestFrequency = Hertz(9000)
    /// The correction matches the pattern from the first directional bin between these two frequencies; if there is
    /// none, from `lowestFrequency`.
    public var lowestFrequency = Hertz(100)
    public var lowestFrequencyAtMost = Hertz(250)
    /// A bin is directional if the noise constraint costs it at most this much directivity.
    public var directivityLoss = Decibels(0.5)
    /// Weight of each bin below the first matched bin, relative to the weight of that bin.
    public var weightBelowPattern = 3e-4
    /// Iterations in which the target above the crossover adopts the phases of the corrected filters.
    public var passes = 6
    /// Limit of ‖w‖² in the corrected bins: noise gain for a response of 1.
    public var lowNoiseGain = Decibels(11)
    /// Where bins exceed it, their regularisers are multiplied by the excess and `regulariserGrowth`, and the
    /// correction is repeated: at most `noiseRounds` rounds in all.
    public var noiseRounds = 6
    public var regulariserGrowth = 4.0
    /// Added to the diagonal of the normal equations, relative to its mean.
    public var diagonalLoading = 1e-9

    public init() {}
  }
}
