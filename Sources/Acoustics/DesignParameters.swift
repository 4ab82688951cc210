/// Every tuning constant of the filter designs: what may differ from device to device while the method stays the same.
///
/// `init(body:)` gives the defaults of a body; a device file can override each value (`design:`). The key that filters
/// are kept under is made of `values`, so a field that is added here counts there by itself. A change of a *method*
/// (a formula, a quadrature, a solver) is what `DesignKey.designVersion` stands for.
///
/// Where a comment names no source, the value was found by trial on the devices that ship, against their table of
/// figures (`make figures`), and docs/decisions.md says what else was tried.
public struct DesignParameters: Hashable, Sendable {
  public var grid = Grid()
  public var box = Box()
  public var measured = Measured()
  public var head = Head()
  public var stereo = Stereo()
  public var refinement = Refinement()
  public var mono = Mono()
  public var truncation = Truncation()

  /// The defaults of a rigid sphere and of a measured body.
  public init() {}

  /// The defaults of `body`.
  public init(body: Body) {
    switch body {
    case .sphere, .measured: break
    case .box:
      // By trial on phone5: at 1.5 kHz the octave at 1 kHz is 3.2 dB off in one case, at 1.2 kHz time differences
      // suffer; with −6 dB front/back stays at 4.1 dB in one case, on a mesh that is not the design's.
      stereo.crossover = Hertz(1300)
      stereo.rearGain = Decibels(-6.7)
      // No pair on a box can follow its phases.
      mono.highestCrossover = Hertz(1300)
    case .free:
      // By trial on ring7: without a body's shadow front/back stays at 4.5 dB with −6 dB, and left/right at 7.9 dB;
      // so tuned, they come to 6.9 dB, for 7.1 dB of the listener's, and 8.1 dB.
      stereo.crossover = Hertz(1700)
      stereo.rearGain = Decibels(-9.2)
    }
  }

  /// Every value with its name, such as "stereo.crossover", in the order of declaration. By reflection: none can be
  /// missing.
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
  /// Lengths of the filters and of the transforms behind them. Frames are those at 48 kHz; other rates have as many
  /// more or fewer.
  public struct Grid: Hashable, Sendable {
    /// Frames of the Fourier transform whose bins are designed; even. Doubled for each octave of rates above 48 kHz.
    public var transformLength = 1024
    /// Frames of the finished filters: 5.3 ms. A multiple of 8, as the engine's vectors are.
    public var tapCount = 256
    /// Modelling delay in frames: 1.3 ms, the latency that Pinna reports.
    public var delay = 64
    /// Bins above it are not designed: they keep the last one's magnitude.
    public var highestFrequency = Hertz(20_000)
    /// Part of a filter over which its end fades out.
    public var fadeOut = 0.0625
    /// Part of the modelling delay over which a filter fades in; never longer than the fade out.
    public var fadeIn = 0.5

    public init() {}
  }

  /// The boundary elements of a box. What figures and simulations are read on is not affected.
  public struct Box: Hashable, Sendable {
    /// Mean panel width in metres: a third of the wavelength at 24 kHz.
    public var panelWidth: Double
    /// Maximum number of panels per octant. Panels are widened to stay within it.
    public var mostPanels = 800
    /// Grading of the mesh towards the edges, where the pressure varies fastest: 0 gives panels of equal width.
    public var edgeSqueeze = 0.6
    /// CHIEF points inside an octant, at which the pressure must vanish. Source: Schenck (1968).
    public var interiorPoints = 16
    /// CHIEF points are used from this fraction of the first interior resonance.
    public var resonanceMargin = 0.85
    /// The box is solved up to this frequency.
    public var highestFrequency = Hertz(24_000)
    /// Frequencies that are solved for each 0.35 m of the box's diagonal; even. More resolve longer impulse responses.
    public var frequencyCount = 64

    public init(panelWidth: Double = 0.0045) { self.panelWidth = panelWidth }
  }

  /// How the measurement of an array is read.
  public struct Measured: Hashable, Sendable {
    /// Highest order of the spherical harmonics between the directions.
    public var highestOrder = 20
    /// Harmonics for each direction measured, at most.
    public var harmonicsPerDirection = 0.7
    /// What a harmonic of degree l costs is this times `roughnessOfMean` + (l(l+1))². Source: Wahba (1981).
    public var roughness = 1e-6
    public var roughnessOfMean = 0.1
    /// Responses below this frequency are extrapolated, with constant magnitude and linear phase.
    public var lowestFrequency = Hertz(200)
    /// Responses above this fraction of the measurement's Nyquist frequency are extrapolated: only the lead changes.
    public var highestPart = 0.9

    public init() {}
  }

  /// How the listener's head-related responses are read.
  public struct Head: Hashable, Sendable {
    /// Order of the spherical harmonics between the measured directions.
    public var order = 18
    /// Cost of a harmonic of degree l: `regularisation` × (1 + `regularisationSlope` × l(l+1)).
    public var regularisation = 1e-4
    public var regularisationSlope = 0.01
    /// Distance of the ears from the centre for the alignment, in metres. They lie 15 % outside a head of 87.5 mm radius,
    /// because sound travels around the head. Source: Ben-Hur et al. (2019).
    public var earDistance = 0.0875 * 1.15
    /// Responses at and below this frequency are extrapolated: KEMAR's contain little there.
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

  /// The stereo design below its crossover, and its limits of noise.
  public struct Stereo: Hashable, Sendable {
    /// Directions of the design, evenly over the sphere.
    public var directions = 1200
    /// Above it only levels matter. Source: about here listeners cease to follow interaural phase (Rayleigh, 1907).
    public var crossover = Hertz(1500)
    /// Gain of sound from straight behind relative to that from the front.
    public var rearGain = Decibels(-6)
    /// Noise gain that the weights of a bin may have at first.
    public var noiseGainLimit = Decibels(10)
    /// Noise gain that finished filters may have from `lowestNoise` to `highestNoise`.
    public var finishedNoiseGain = Decibels(10.4)
    public var lowestNoise = Hertz(100)
    public var highestNoise = Hertz(16_000)
    /// Where finished filters have more, the limits of their bins are lowered by the excess and `tighteningMargin`, and
    /// the design is repeated, at most `tightenings` times.
    public var tightenings = 5
    public var tighteningMargin = Decibels(0.1)
    /// Bins on either side of such a bin whose limits are lowered with it.
    public var tighteningReach = 3
    /// No limit is lowered below this.
    public var leastNoiseGainLimit = Decibels(5)
    /// Least regulariser, relative to the mean eigenvalue.
    public var leastRegulariser = 1e-3
    /// Passes of magnitude least squares per bin, where there is no refinement.
    public var magnitudePasses = 6
    /// Factor by which a bin is raised or lowered at most towards the target's diffuse energy: 12 dB.
    public var scalingLimit = 4.0
    /// Separation of left and right from which on a case is offered, octaves weighted by speech.
    public var leastSeparation = Decibels(3)

    public init() {}
  }

  /// The refinement of stereo above its crossover: sectors in which ears are compared, and the cost that is minimised.
  public struct Refinement: Hashable, Sendable {
    /// Sectors around the horizon, and what they count together.
    public var horizonSectors = 36
    public var horizonWeight = 18.0
    /// Sectors at `elevation` above the horizon, and as many below.
    public var raisedSectors = 6
    public var elevation = Angle.degrees(40)
    /// What each raised sector counts, and the zenith and the nadir.
    public var raisedWeight = 0.4
    /// Concentration of the von Mises weight by which directions belong to a sector.
    public var concentration = 25.0
    /// Energies below this part of the target's mean count as nothing.
    public var floor = 1e-2
    /// Weight of the level difference's error; either ear's level has 1. With 6 or 8 ring7 ends in either of two optima.
    public var differenceWeight = 4.0
    /// Weight of the squared log excess of noise gain.
    public var noiseWeight = 50.0
    /// Weight of the coherence with the target. Costs are 0.1 to 30: this moves levels by less than 0.1 dB, and settles
    /// which of two equal minima is taken.
    public var coherenceWeight = 0.03
    /// Iterations per bin at most: mostly 5 to 10 are enough.
    public var iterations = 30
    /// The same for the first bin, which starts from another design: up to 40 on the devices that ship.
    public var firstIterations = 60

    public init() {}
  }

  /// The design of first-order patterns.
  public struct Mono: Hashable, Sendable {
    /// Directions of the design, evenly over the sphere.
    public var directions = 1200
    /// Above the frequency at which 2π × radius / wavelength of the array is this, only magnitudes count: 1.2 kHz for a
    /// ring of 43 mm.
    public var crossoverSize = 0.95
    /// The crossover is at most this.
    public var highestCrossover = Hertz(8000)
    /// White-noise gain that every bin keeps. Source: Cox, Zeskind and Owen (1987) for the constraint.
    public var whiteNoiseGainFloor = Decibels(-10)
    /// Where the pattern is weaker on axis than over all directions, equalisation stops at the inverse of this.
    public var leastOnAxis = 0.5
    /// Least part of a target that microphones must be able to pick up, root over root of the energies. A figure of
    /// eight at 0 Hz is beyond reach: weights for it would be made of rounding.
    public var leastReach = 1e-6
    /// Where noise widens a pattern, a narrower one is aimed at: steps of its omnidirectional part α, and the least α.
    public var narrowing = 0.02
    public var leastOmnidirectionalPart = 0.1
    /// Passes of magnitude least squares per bin.
    public var magnitudePasses = 8
    /// The same where the phases come from elsewhere than the bin below.
    public var firstMagnitudePasses = 60
    /// Starting phases are tried on every so many bins, up to `highestTrial`.
    public var trialStride = 6
    public var highestTrial = Hertz(12_000)
    /// How much less a starting phase's mean squared error must be than that of the bin below, from which it is a jump.
    public var worthAJump = Decibels(0.5)
    /// How much lower its logarithm must be than that of another microphone: more than rounding.
    public var tie = 1e-3
    /// Least regulariser below the crossover, relative to the greatest eigenvalue.
    public var leastRegulariser = 1e-9
    /// The same above it.
    public var leastMagnitudeRegulariser = 1e-4
    /// Front/back ratio from which on a directional pattern is offered, octaves weighted by speech.
    public var leastFrontBack = Decibels(3)

    public init() {}
  }

  /// What repairs first-order patterns after their filters were cut to length.
  public struct Truncation: Hashable, Sendable {
    /// Corrections are sums of cosines up to this frequency.
    public var highestCosine = Hertz(6000)
    /// Bins up to this frequency count.
    public var highestFrequency = Hertz(9000)
    /// The pattern counts from the first bin between these two on that noise leaves directional; where there is none,
    /// from the lower.
    public var lowestFrequency = Hertz(100)
    public var lowestFrequencyAtMost = Hertz(250)
    /// A bin counts as directional where noise costs it no more directivity than this.
    public var directivityLoss = Decibels(0.5)
    /// Weight of the bins below, against that of the lowest that counts.
    public var lowWeight = 3e-4
    /// Passes towards the magnitudes above the crossover.
    public var passes = 6
    /// Noise gain that the bins below may have, on a response of 1.
    public var lowNoiseGain = Decibels(11)
    /// Where they have more, their regularisers grow by the excess times `regulariserGrowth`, and the repair is repeated,
    /// `noiseRounds` rounds in all.
    public var noiseRounds = 6
    public var regulariserGrowth = 4.0
    /// Added to the diagonal of the normal equations, relative to its mean.
    public var diagonalLoading = 1e-9

    public init() {}
  }
}
