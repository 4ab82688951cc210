import Acoustics
import Simulation

/// Signals of microphones at `positions` in a free field, with their source moved from one direction to another: each
/// is shifted by the change of its lead.
public func movingSource(
  of signals: [[Float]], sampleRate: Int, at positions: [Position], from old: Direction, to new: Direction
) -> [[Float]] {
  zip(signals, positions).map { samples, position in
    BandlimitedSignal(samples: samples, sampleRate: sampleRate).sampled(
      rate: sampleRate, count: samples.count,
      start: PlaneWave.lead(at: position, from: new) - PlaneWave.lead(at: position, from: old))
  }
}
