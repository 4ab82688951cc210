/// Every threshold of this room, by the step that uses it, and where it comes from.
///
/// Most came with the check (commit b502f3a), whose record of how they were found is lost. "Trial" marks those for
/// which there is no reason but that they work: the errors and clean draws of ArrayCheckTests and the recording of
/// RealRecordingTests are judged right with them. Reasons beside other values were found afterwards, by calculation.
/// "Measured" is what the same scenes gave on 2026-11-26, on linear8, uma8, glasses8 and tetramic.
enum Thresholds {
  // MARK: Recording

  /// Hertz. Trial.
  static let sampleRates = 8000...192_000
  /// Seconds. Hum needs several parts of 0.5 s. Of longer recordings the beginning is used.
  static let leastDuration = 1
  static let mostDuration = 60
  /// In all channels together: with copies and spectra, some 120 MB.
  static let mostSamples = 12_000_000
  /// Seconds: the tests' clean draws last 3.2 s.
  static let shortRecording = 3
  /// dBFS. Trial: above the rounding noise of 16 bits, −98 dBFS.
  static let quiet = -85.0

  // MARK: ChannelHealth

  /// Amplitude; below any 24-bit sample.
  static let silence = 1e-9
  /// dB against the others (docs/array.md). Trial.
  static let deadLevel = -40.0
  /// Of the peak: a tenth of a per mille of it. Trial.
  static let clippedShare: Float = 0.9999
  /// Trial: one run may be the sound itself, and so may a low peak.
  static let fewestClippedRuns = 3
  static let leastClippedPeak = 0.05
  /// Amplitude, and share of the RMS (docs/array.md). Trial.
  static let leastOffset = 0.015
  static let leastOffsetShare = 0.3

  // MARK: BFormat

  /// Hertz, and metres between capsules: up to there, omnidirectional capsules agree to 0.87 in sound from all around.
  static let ambisonicBand = 100.0...500.0
  static let ambisonicExtent = 0.1
  /// Levels that W, X, Y and Z must not fall below, as a share of the loudest one's power: 30 dB.
  static let leastAmbisonicShare = 1e-3
  /// dB: how much the sum of squares may vary from frame to frame, and differ from what it should be. Measured with
  /// eight talkers, with one to six reflections, and in sound from all around: 1.2 to 1.8 dB, up to 0.4 dB.
  static let ambisonicSpread = 2.0
  static let ambisonicRatio = 0.8
  /// Coherence with W below which some other channel must be. Measured in the same sound: up to 0.3; of cardioid
  /// capsules, 0.5 and more.
  static let ambisonicCoherence = 0.4

  // MARK: Hum

  /// dB above the median microphone (docs/array.md), and above what lies between the lines.
  static let humExcess = 10.0
  static let humProminence = 10.0
  /// How far lines stand out, against the median microphone: 6 dB. Trial.
  static let humContrast = 4.0
  /// One line may be a note.
  static let fewestHumLines = 2
  /// Hertz between a line and where its surroundings are measured: the window of 0.5 s has lobes of 4 Hz, and no
  /// multiple of 50 or 60 Hz below 360 Hz ± 14 Hz is another multiple of the same mains.
  static let humDistance = 14.0

  // MARK: Dullness

  /// Hertz. Where lossy formats cut microphones off: Opus for loudspeakers at 4 to 5 kHz. Voices with a sample rate of 16 kHz
  /// end at 8 kHz, and are no fault.
  static let trebleEdges = [2000.0, 2300, 2700, 3200, 3800, 4500, 5200, 6000]
  static let trebleTop = 16_000.0
  /// dB from just below an edge to all above it, within less than an octave: no sound in air falls like that above the
  /// noise of a microphone.
  static let trebleFall = 30.0
  /// Hertz: treble, and what it is compared with.
  static let trebleFrom = 2000.0
  static let trebleReference = 200.0...1000.0
  /// dB below that reference from which on there is nothing that could end.
  static let trebleBelow = 50.0
  /// dB below the others. Trial: a head or a box in the way takes away 15 dB.
  static let trebleLoss = 22.0
  /// Seconds.
  static let trebleDuration = 10

  // MARK: CopiedPair

  /// dB. Two microphones have noise of their own and another place, and never agree so well. Trial.
  static let copyResidual = -55.0
  /// Frames (docs/array.md): trial.
  static let copyLags = -8...8

  // MARK: PolarityVote, PolarityEvidence

  /// Hertz. In diffuse sound close pairs are in phase at low frequencies (devices.md of the design, §4).
  static let polarityBand = 80.0...1500.0
  /// Coherence in diffuse sound from which on a pair counts as in phase. Trial.
  static let polarityCoherence = 0.75
  /// Share of the agreement that fits the two camps, and agreement of each microphone with some other. Trial.
  static let leastAgreement = 0.8
  static let leastSupport = 0.2
  /// By how much a sign must explain the events better than the other one. Trial.
  static let signGain = 0.02

  // MARK: SoundEvents

  /// Hertz: speech; above, arrays of some centimetres repeat their phases.
  static let eventBand = 300.0...4000.0
  /// Of the sample rate: below what converters' filters leave.
  static let highestShare = 0.42
  /// A frequency every 79 Hz; more, and more events, cost time in proportion.
  static let eventFrequencies = 48
  static let mostEvents = 40
  /// Trial: with fewer, the standard error of a gain is itself uncertain.
  static let fewestEvents = 8
  /// Of the mean power, so that no event is noise between words. Trial.
  static let eventPower: Float = 0.3
  /// How much louder than the frame before the median event must be; even noise stays near 1. Trial.
  static let leastOnset: Float = 1.5

  // MARK: Geometry

  /// Half the extent of an array, in metres, from which on it tells near sources from far ones: at 1 m, waves then
  /// deviate from planes by 5 mm.
  static let largeExtent = 0.1
  /// Metres: microphones are placed to ±1 mm in the tests' clean draws.
  static let flatness = 1.5e-3
  /// Metres between two distances, and cosine between two angles, that count as the same: twice ±1 mm, 1°.
  static let samePlace = 2e-3
  static let sameFacing = 0.02
  /// The search for symmetries is bounded; larger arrays count as unsymmetric.
  static let mostSymmetricMicrophones = 16
  /// Cosine: 26°. Trial.
  static let sameDirection = 0.9
  /// Share of the events that makes a direction count: 5 of 40. Trial.
  static let directionShare = 0.12

  // MARK: OrderSearch, CoherenceOrder

  /// Standard errors by which events must prefer another explanation. Trial.
  static let leastCertainty = 5.0
  /// Relative gain of another order. Trial. Measured where two channels are exchanged: 0.018 and more; on clean arrays
  /// in noise another order may gain 0.009, and is refused by the other conditions.
  static let orderGain = 0.006
  /// From this gain on, coherences are not asked. Trial.
  static let clearGain = 0.08
  /// What an image of an order may explain less, because the directions tried are not symmetric. Trial.
  static let imageLoss = 0.03
  /// Orders are as good if they lose less than this, or by fewer standard errors. Trial.
  static let equalGain = 0.004
  static let equalCertainty = 2.0
  /// Hertz: the band of coherences begins above hum and ends where the wavelength is 0.9 times the median distance.
  static let coherenceBottom = 200.0
  static let coherenceTop = 1000.0...4000.0
  /// Of the mean power: between words there is the noise of the microphones. Trial.
  static let loudFrame: Float = 0.1
  /// Correlation of measured with modelled coherences from which on an order is believed; by how much it must exceed
  /// that of the order given, and that with two channels exchanged. Trial.
  static let leastCorrelation = 0.95
  static let coherenceGain = 0.04
  static let coherenceLoss = 0.01
  /// What an order may explain less of the events, if coherences speak for it. Trial.
  static let lossForCoherence = 0.08

  // MARK: LateMicrophone

  /// Late microphones that are looked for.
  static let mostLate = 3
  /// Seconds (docs/array.md): 10 mm of displacement make 29 µs.
  static let leastDelay = 40e-6
  /// The same where sound came from one direction only: there, 30 mm of displacement make 87 µs and look alike.
  static let leastDelayOneSided = 100e-6
  /// Relative gain of a delay; more where single waves explain little, as in noise from all around. Trial. Measured for
  /// three frames, 62.5 µs: delays of 55 to 64 µs.
  static let delayGain = 0.006
  static let delayGainWithoutDirections = 0.02
  /// Fit from which on single waves explain the events: half of the energy.
  static let directFit = 0.5
  /// Other microphones with this share of the best one's gain may be the late one as well. Trial.
  static let likeDelayGain = 0.8

  // MARK: LevelComparison

  /// Hertz; on bodies less. Trial.
  static let levelBand = 200.0...4000.0
  static let levelBandOnBodies = 200.0...1500.0
  /// dB (docs/array.md). Capsules of ±2 dB differ from their median by 4 dB at most. Measured: up to 3.1 dB on clean
  /// arrays with gains of ±2 dB, and from 5.8 dB where 6 dB too much are found.
  static let levelDeviation = 4.7
  /// dB that patterns of directional capsules may explain: beyond, reverberation decides (docs/array.md: 6 dB may
  /// pass).
  static let mostExplained = 6.0

  // MARK: ArrayCalibration, DiffuseSound

  /// Seconds; the tests measure with 6 s.
  static let leastCalibration = 5
  /// Hertz; on bodies less. Trial.
  static let gainBand = 200.0...4000.0
  static let gainBandOnBodies = 200.0...2000.0
  /// Hertz. Up to 4 kHz, delays of 125 µs were ambiguous (commit d077b33).
  static let delayBand = 100.0...3000.0
  /// Modelled coherence from which on a pair's phase counts. Trial.
  static let delayCoherence = 0.4
  /// RMS difference of coherences. Trial: CalibrationTests have one talker above, and diffuse sound with a delay of 20
  /// µs below.
  static let mostUnevenness = 0.22
  /// Seconds: 1.7 mm of displacement. And standard errors (both docs/array.md).
  static let leastCalibratedDelay = 5e-6
  static let delaySignificance = 4.0
  /// Seconds: phases up to 3 kHz tell delays of less than 167 µs apart; refused from 140 µs on (commit d077b33).
  static let mostCalibratedDelay = 140e-6

  // MARK: TapListener

  /// Blocks of 20 ms: the background is the median of half a second, and of 0.1 s at least.
  static let tapHistory = 25
  static let leastTapHistory = 5
  /// Energy of a tap against the background: 12 dB (docs/array.md).
  static let leastTapRise = 16.0
  /// Mean square of the signal's differences, −70 dBFS. Trial.
  static let leastTapEnergy = 1e-7
  /// Blocks that a tap lasts: 60 ms.
  static let tapLength = 3
  /// dB above all other channels (docs/array.md): voices reach all microphones alike.
  static let leastTapMargin = 6.0
  /// dB that are shown at most.
  static let mostTapMargin = 60.0
}
