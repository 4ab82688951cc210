/// Everything that depends on the period: the microphones' spectra and the transforms.
///
/// Uniformly partitioned overlap-save: one forward transform for two microphones, products summed over
/// microphones and partitions in an order that does not depend on the phase of the ring, one inverse for both
/// outputs (left + j·right).
/// - Source: Gardner, Efficient Convolution without Input-Output Delay, JAES 43 (1995), uniform case.
final class Convolver: @unchecked Sendable {
  // Unchecked: built by the control side, then used by the callback alone until it hands it back.

  let plan: Partitioning
  /// Tells this convolver from those before and after it.
  let serial: Int
  /// Which of a filter set's two spectra belongs to this convolver.
  let generation: Int
  private let transform: FourierTransform
  /// Shape: `[slot][microphone][re, im][bin]`.
  private let spectra: AlignedMemory
  private let re: AlignedMemory
  private let im: AlignedMemory
  private let sums: AlignedMemory
  private var newest = 0

  init(_ plan: Partitioning, generation: Int, serial: Int) {
    self.plan = plan
    self.serial = serial
    self.generation = generation
    transform = FourierTransform(size: plan.transformSize)
    spectra = AlignedMemory(count: plan.partitions * plan.microphones * plan.spectrumFloats)
    re = AlignedMemory(count: plan.transformSize)
    im = AlignedMemory(count: plan.transformSize)
    sums = AlignedMemory(count: 4 * plan.binStride)
  }

  deinit {
    transform.free()
    spectra.free()
    re.free()
    im.free()
    sums.free()
  }

  @_noLocks @_noAllocation
  func fits(frames: Int) -> Bool { plan.period == frames }

  @_noLocks @_noAllocation
  func name() -> Int { serial }

  /// Takes over in mid-stream, or catches up: transforms what every partition would have seen, had it run all
  /// along, up to and with the period that `history` ends with.
  @_noLocks @_noAllocation
  func refill(from history: borrowing InputHistory) {
    var age = plan.partitions &- 1
    while age >= 0 {
      newest = newest &+ 1 == plan.partitions ? 0 : newest &+ 1
      analyse(history, age: age &* plan.period)
      age &-= 1
    }
  }

  /// Takes in the period that `history` ends with.
  @_noLocks @_noAllocation
  func advance(_ history: borrowing InputHistory) {
    newest = newest &+ 1 == plan.partitions ? 0 : newest &+ 1
    analyse(history, age: 0)
  }

  /// Spectra of the windows that end `age` frames ago into the newest slot, two microphones a transform.
  @_noLocks @_noAllocation
  private func analyse(_ history: borrowing InputHistory, age: Int) {
    let size = plan.transformSize
    let slot = spectra.floats + newest &* plan.microphones &* plan.spectrumFloats
    var microphone = 0
    while microphone < plan.microphones {
      let paired = microphone &+ 1 < plan.microphones
      history.copy(microphone: microphone, age: age, count: size, to: re.floats)
      if paired {
        history.copy(microphone: microphone &+ 1, age: age, count: size, to: im.floats)
      } else {
        im.floats.clear(count: size)
      }
      transform.forward(re.floats, im.floats)
      let a = slot + microphone &* plan.spectrumFloats
      let b = a + plan.spectrumFloats
      var k = 0
      while k <= size / 2 {
        let mirror = (size &- k) & (size &- 1)
        let (zr, zi, mr, mi) = (re.floats[k], im.floats[k], re.floats[mirror], im.floats[mirror])
        a[k] = 0.5 * (zr + mr)
        a[plan.binStride &+ k] = 0.5 * (zi - mi)
        if paired {
          b[k] = 0.5 * (zi + mi)
          b[plan.binStride &+ k] = 0.5 * (mr - zr)
        }
        k &+= 1
      }
      microphone &+= 2
    }
  }

  /// This period's outputs through `filters`. Writes `plan.period` frames to each; false, and nothing
  /// written, where the set was not cut for this period.
  @_noLocks @_noAllocation
  func synthesise(
    _ filters: Unmanaged<FilterSet>, left: UnsafeMutablePointer<Float>, right: UnsafeMutablePointer<Float>
  ) -> Bool {
    let generation = generation
    guard let filterSpectra = filters._withUnsafeGuaranteedRef({ $0.spectra(generation: generation) })
    else { return false }
    multiply(filterSpectra)
    invert()
    let first = plan.transformSize &- plan.period
    left.copy(from: re.floats + first, count: plan.period)
    right.copy(from: im.floats + first, count: plan.period)
    return true
  }

  @_noLocks @_noAllocation
  private func multiply(_ filterSpectra: UnsafeMutablePointer<Float>) {
    let vectors = plan.binStride / 8
    let spectrum = plan.spectrumFloats / 8
    let microphones = plan.microphones
    let out = sums.floats.lanes
    var bin = 0
    while bin < vectors {
      var lr = Lanes.zero
      var li = Lanes.zero
      var rr = Lanes.zero
      var ri = Lanes.zero
      var slot = newest
      var partition = 0
      var h = filterSpectra.lanes + bin
      while partition < plan.partitions {
        var x = spectra.floats.lanes + slot &* microphones &* spectrum + bin
        var microphone = 0
        while microphone < microphones {
          let xr = x[0]
          let xi = x[vectors]
          let hr = h[0]
          let hi = h[vectors]
          lr += xr * hr - xi * hi
          li += xr * hi + xi * hr
          let right = h + microphones &* spectrum
          let gr = right[0]
          let gi = right[vectors]
          rr += xr * gr - xi * gi
          ri += xr * gi + xi * gr
          x += spectrum
          h += spectrum
          microphone &+= 1
        }
        h += microphones &* spectrum
        slot = slot == 0 ? plan.partitions &- 1 : slot &- 1
        partition &+= 1
      }
      out[bin] = lr
      out[vectors &+ bin] = li
      out[2 &* vectors &+ bin] = rr
      out[3 &* vectors &+ bin] = ri
      bin &+= 1
    }
  }

  /// Left + j·right in one inverse transform, into `re` and `im`.
  @_noLocks @_noAllocation
  private func invert() {
    let size = plan.transformSize
    let lr = sums.floats
    let li = lr + plan.binStride
    let rr = li + plan.binStride
    let ri = rr + plan.binStride
    var k = 0
    while k <= size / 2 {
      re.floats[k] = lr[k] - ri[k]
      im.floats[k] = li[k] + rr[k]
      k &+= 1
    }
    k = 1
    while k < size / 2 {
      re.floats[size &- k] = lr[k] + ri[k]
      im.floats[size &- k] = rr[k] - li[k]
      k &+= 1
    }
    transform.forward(im.floats, re.floats)
  }
}
