import Glibc
import Numerics
import Realtime

/// Finds wind at microphones, and takes it out of filters.
///
/// Wind is pressure at each microphone, independent of that at the others; sound reaches all of them. Of a bin's covariance C
/// over 45 ms, what pairs of microphones share is sound with the power p; the rest of each microphone's own power is wind,
/// N = diag(C) − p G. The filters W that were designed for sound from everywhere, with covariance G, and no wind become
/// those for p G and N: W G (G + N/p)⁻¹. The windier a microphone is, the less they use it, and the less they subtract
/// microphones from each other.
///
/// - Source: the multichannel Wiener filter, with a prior for the covariance of sound.
/// - Thread: one at a time. It allocates nothing after its start.
final class WindAnalysis {
  /// Time constants in seconds: of the covariance, of what says that there is wind, and with which that is forgotten.
  private static let (shortTime, steadiness, calming) = (0.045, 0.1, 0.3)
  private static let rounds = 3
  /// What wind counts for, so that filters rather differ from those that were designed than be windy.
  static let weight: Float = 4
  /// Coherence relative to that of diffuse sound, squared, from which on it is wind in part, and for sure.
  private static let (calm, windy): (Float, Float) = (0.8, 0.5)
  /// Of that: the highest frequency in hertz; and the least power of wind there, relative to full scale: below is the microphones'
  /// own noise.
  private static let lowest = 380.0
  private static let least: Float = 2.5e-7
  /// Microphones this much softer than the loudest are dead; and so soft that what they have alone is their own noise, and no
  /// sign of wind, which makes a microphone louder.
  private static let (dead, soft): (Float, Float) = (1e-5, 1e-2)
  /// The most that wind is taken to be, relative to sound.
  private static let most: Float = 1e4
  /// What stands for the wind of a dead microphone, whose filters hear nothing.
  static let absent: Float = 2e4
  /// Added to the covariance of diffuse sound, relative to its mean: what filters are designed with.
  private static let loading: Float = 0.01
  /// The most by which filters are made louder, so that what shall stay is as loud as before. Where wind hides the sound, it
  /// stays softer.
  static let mostGain: Float = 20

  let table: WindTable
  /// 0…1: how sure it is that there is wind.
  private(set) var presence: Float = 0
  private(set) var updates = 0
  /// Of each microphone, the power of wind from 90 to 710 Hz, relative to full scale.
  private(set) var powers: [Float]
  private let microphones: Int
  /// Of each microphone, the part of a bin's power that is sound.
  private var parts: [Float]
  /// Of each microphone, coherence with the others and that of diffuse sound, with powers, over `steadiness`.
  private var shared: [Float]
  private var expected: [Float]
  /// `[bin][row][column]`, real and imaginary parts in turn.
  private let covariance: AlignedMemory
  /// Wind relative to sound, `[bin][microphone]`.
  let wind: AlignedMemory
  /// Lower triangles L of G + N/p = LLᴴ, `[bin][row][column]`, likewise; the diagonal holds 1/L_ii.
  private let factors: AlignedMemory
  private let column: AlignedMemory
  private let scale: Float
  private let low: Range<Int>
  private let upTo710: Range<Int>

  init(_ table: WindTable) {
    self.table = table
    microphones = table.microphones
    let terms = microphones * microphones
    covariance = AlignedMemory(count: table.bins.count * terms * 2)
    factors = AlignedMemory(count: table.bins.count * terms * 2)
    wind = AlignedMemory(count: table.bins.count * microphones)
    column = AlignedMemory(count: microphones * 2)
    powers = [Float](repeating: 0, count: microphones)
    (parts, shared, expected) = (powers, powers, powers)
    let (length, width) = (
      Double(table.grid.length), Double(table.grid.sampleRate) / Double(table.grid.length)
    )
    // Both halves of the spectrum, and the window's mean square.
    scale = Float(2 / (0.375 * length * length))
    low = 1..<Int(Self.lowest / width) + 1
    upTo710 = 1..<min(Int(710 / width) + 1, table.bins.upperBound)
  }

  deinit { for memory in [covariance, factors, wind, column] { memory.free() } }

  /// Updates of factors cost as the cube of the microphones: many have them more rarely. In hops.
  var hopsPerUpdate: Int { DirectionFinder.hopsPerUpdate * max(1, min(8, microphones * microphones / 256)) }

  /// Forgets the wind. Counts as an update, so that filters without it are delivered, and the callback does not count them
  /// as late.
  func reset() {
    updates += 1
    covariance.floats.update(repeating: 0, count: table.bins.count * microphones * microphones * 2)
    presence = 0
    for m in powers.indices { (powers[m], shared[m], expected[m]) = (0, 0, 0) }
  }

  /// Takes the newest spectra.
  func append(_ spectra: MicrophoneSpectra) {
    let keep = table.grid.forgetting(Self.shortTime)
    let terms = microphones * microphones
    for bin in table.bins {
      let x = spectra.values.floats + bin * microphones * 2
      let c = covariance.floats + bin * terms * 2
      for i in 0..<microphones {
        let (xr, xi) = ((1 - keep) * x[2 * i], (1 - keep) * x[2 * i + 1])
        for j in i..<microphones {
          let (yr, yi) = (x[2 * j], x[2 * j + 1])
          let at = c + (i * microphones + j) * 2
          at[0] = keep * at[0] + xr * yr + xi * yi
          at[1] = keep * at[1] + xi * yr - xr * yi
        }
      }
    }
  }

  /// Finds the wind of now, and what takes it out.
  func update() {
    updates += 1
    let seconds = Double(hopsPerUpdate * table.grid.hop) / Double(table.grid.sampleRate)
    let found = coherenceSaysWind()
    presence = max(found, presence * Float(exp(-seconds / Self.calming)))
    if presence < 1e-3 { presence = 0 }
    for m in powers.indices { powers[m] = 0 }
    guard presence > 0 else { return }
    for bin in table.bins {
      findWind(bin)
      factor(bin)
    }
  }

  private func power(_ bin: Int, _ m: Int) -> Float {
    covariance.floats[(bin * microphones * microphones + m * (microphones + 1)) * 2]
  }

  /// The squared coherence of each microphone with the others, relative to that of diffuse sound; the least counts. Sound
  /// from few directions has more.
  private func coherenceSaysWind() -> Float {
    var loudest: Float = 0
    for m in 0..<microphones {
      var sum: Float = 0
      for bin in low { sum += power(bin, m) }
      powers[m] = sum
      loudest = max(loudest, sum)
    }
    let keep = table.grid.forgetting(Self.steadiness, hops: hopsPerUpdate)
    var least: Float = 1
    for i in 0..<microphones {
      var (shared, expected): (Float, Float) = (0, 0)
      for bin in low {
        for j in 0..<microphones where j != i && powers[j] > Self.dead * loudest {
          let (square, diffuse) = coherence(bin, i, j)
          let weight = diffuse * power(bin, i) * power(bin, j)
          shared += weight * square
          expected += weight * diffuse
        }
      }
      self.shared[i] = keep * self.shared[i] + (1 - keep) * shared
      self.expected[i] = keep * self.expected[i] + (1 - keep) * expected
      guard powers[i] > Self.soft * loudest, powers[i] * scale > Self.least, self.expected[i] > 0 else {
        continue
      }
      least = min(least, self.shared[i] / self.expected[i])
    }
    let x = max(0, min(1, (Self.calm - least) / (Self.calm - Self.windy)))
    return x * x * (3 - 2 * x)
  }

  /// Writes the `wind` of a bin.
  private func findWind(_ bin: Int) {
    let n = wind.floats + bin * microphones
    var (softest, loudest): (Float, Float) = (.infinity, 0)
    for m in 0..<microphones { loudest = max(loudest, power(bin, m)) }
    for m in 0..<microphones where power(bin, m) > Self.dead * loudest {
      softest = min(softest, power(bin, m))
    }
    guard loudest > 0 else {
      for m in 0..<microphones { n[m] = 0 }
      return
    }
    let sound = sound(bin, softest: softest, loudest: loudest)
    findParts(bin, sound, loudest: loudest)
    let share = Self.weight * presence * table.shares[bin]
    for m in 0..<microphones {
      let own = power(bin, m)
      let left = own * (1 - parts[m])
      if upTo710.contains(bin) { powers[m] += left * scale }
      n[m] = own > Self.dead * loudest ? min(Self.most, share * left / sound) : Self.absent
    }
  }

  /// The power of sound: of C = p G, by least squares over pairs, of which those of soft microphones say most.
  private func sound(_ bin: Int, softest: Float, loudest: Float) -> Float {
    var (shared, expected, mean): (Float, Float, Float) = (0, 1e-30, 0)
    for i in 0..<microphones where power(bin, i) > Self.dead * loudest {
      mean += power(bin, i)
      for j in i + 1..<max(microphones, i + 1) where power(bin, j) > Self.dead * loudest {
        let at = (bin * microphones * microphones + i * microphones + j) * 2
        let (c, gr, gi) = (covariance.floats + at, table.diffuse[at], table.diffuse[at + 1])
        let weight = softest * softest / (power(bin, i) * power(bin, j))
        shared += weight * (c[0] * gr + c[1] * gi)
        expected += weight * (gr * gr + gi * gi)
      }
    }
    return min(mean / Float(microphones), max(shared / expected, 1e-3 * softest))
  }

  /// Writes `parts`: the squared coherence of two microphones is the product of theirs. That which diffuse sound lacks is
  /// added: sound from few directions is then taken for more than it is, not for wind.
  private func findParts(_ bin: Int, _ sound: Float, loudest: Float) {
    let base = bin * microphones * microphones
    for m in 0..<microphones {
      let own = max(power(bin, m), 1e-30)
      parts[m] = max(1e-2, min(1, sound * table.diffuse[(base + m * (microphones + 1)) * 2] / own))
    }
    for _ in 0..<Self.rounds {
      for i in 0..<microphones where power(bin, i) > Self.dead * loudest {
        var (sum, weights): (Float, Float) = (0, 1e-12)
        for j in 0..<microphones where j != i && power(bin, j) > Self.dead * loudest {
          let (square, diffuse) = coherence(bin, i, j)
          let weight = diffuse * diffuse
          sum += weight * min(1, square / max(diffuse, 1e-2)) * parts[j]
          weights += weight * parts[j] * parts[j]
        }
        parts[i] = 0.5 * (parts[i] + max(1e-2, min(1, sum / weights)))
      }
    }
  }

  /// Squared, of two microphones, and that of diffuse sound.
  private func coherence(_ bin: Int, _ i: Int, _ j: Int) -> (now: Float, diffuse: Float) {
    let base = bin * microphones * microphones
    let at = (base + min(i, j) * microphones + max(i, j)) * 2
    let (c, gr, gi) = (covariance.floats + at, table.diffuse[at], table.diffuse[at + 1])
    let own =
      table.diffuse[(base + i * (microphones + 1)) * 2] * table.diffuse[(base + j * (microphones + 1)) * 2]
    return (
      (c[0] * c[0] + c[1] * c[1]) / max(power(bin, i) * power(bin, j), 1e-30), (gr * gr + gi * gi) / own
    )
  }

  /// Writes the `factors` of a bin: Cholesky's.
  private func factor(_ bin: Int) {
    let base = bin * microphones * microphones * 2
    let l = factors.floats + base
    for j in 0..<microphones {
      for i in j..<microphones {
        // Row i, column j of G + N/p.
        var re = table.diffuse[base + (i * microphones + j) * 2]
        var im = table.diffuse[base + (i * microphones + j) * 2 + 1]
        if i == j { (re, im) = (re + Self.loading + wind.floats[bin * microphones + i], 0) }
        let (a, b) = (l + i * microphones * 2, l + j * microphones * 2)
        for k in 0..<j {
          let (ar, ai, br, bi) = (a[2 * k], a[2 * k + 1], b[2 * k], b[2 * k + 1])
          re -= ar * br + ai * bi
          im -= ai * br - ar * bi
        }
        if i == j {
          a[2 * j] = 1 / max(re, 1e-9).squareRoot()
          a[2 * j + 1] = 0
        } else {
          a[2 * j] = re * b[2 * j]
          a[2 * j + 1] = im * b[2 * j]
        }
      }
    }
  }

  /// Takes wind out of the filters from all microphones to one output.
  /// - Parameter row: `[microphone]`, real and imaginary parts in turn.
  func clean(_ row: UnsafeMutablePointer<Float>, bin: Int) {
    let (n, l, x) = (
      wind.floats + bin * microphones, factors.floats + bin * microphones * microphones * 2, column.floats
    )
    // W − (W N/p)(G + N/p)⁻¹: the conjugate of the row is solved for as a column.
    for i in 0..<microphones {
      var (re, im) = (n[i] * row[2 * i], -n[i] * row[2 * i + 1])
      let a = l + i * microphones * 2
      for k in 0..<i {
        re -= a[2 * k] * x[2 * k] - a[2 * k + 1] * x[2 * k + 1]
        im -= a[2 * k] * x[2 * k + 1] + a[2 * k + 1] * x[2 * k]
      }
      (x[2 * i], x[2 * i + 1]) = (re * a[2 * i], im * a[2 * i])
    }
    for i in stride(from: microphones - 1, through: 0, by: -1) {
      var (re, im) = (x[2 * i], x[2 * i + 1])
      for k in i + 1..<max(microphones, i + 1) {
        // The conjugate of L_ki.
        let a = l + (k * microphones + i) * 2
        re -= a[0] * x[2 * k] + a[1] * x[2 * k + 1]
        im -= a[0] * x[2 * k + 1] - a[1] * x[2 * k]
      }
      let pivot = l[(i * microphones + i) * 2]
      (x[2 * i], x[2 * i + 1]) = (re * pivot, im * pivot)
    }
    for i in 0..<microphones {
      row[2 * i] -= x[2 * i]
      row[2 * i + 1] += x[2 * i + 1]
    }
  }
}
