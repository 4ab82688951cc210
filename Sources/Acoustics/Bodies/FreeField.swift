/// No body: the microphones are in the free field.
public struct FreeField: BodyShape {
  public init() {}

  public func phrase(_ placement: Placement) -> String { "none" }

  public var capsuleFault: String? { nil }

  public func key(hash: (_ path: String) -> String) -> String { "free" }

  public func setDefaults(of design: inout DesignParameters) {
    // Found by trial on ring7. No body shadows sound from behind, so a rear gain of −6 dB yields only 4.5 dB of
    // front/back and 7.9 dB of left/right. These values yield 6.9 dB (the listener has 7.1 dB) and 8.1 dB.
    design.stereo.crossover = Hertz(1700)
    design.stereo.rearGain = Decibels(-9.2)
  }
}
