/// Complex responses over frequency, channel (microphone or ear) and direction.
/// - Shape: `[frequency][channel][direction]`, flat in that order.
/// - Convention: e^(+jωt), relative to the free field at the origin.
@frozen @usableFromInline package struct ResponseGrid: Sendable {
  @usableFromInline package let frequencies: Int
  @usableFromInline package let channels: Int
  @usableFromInline package let directions: Int
  @usableFromInline package var values: [Complex]

  package init(frequencies: Int, channels: Int, directions: Int) {
    self.frequencies = frequencies
    self.channels = channels
    self.directions = directions
    values = [Complex](repeating: .zero, count: frequencies * channels * directions)
  }

  /// A grid that `write` fills: `frequencies` × `channels` × `directions` values.
  package init<Failure: Error>(
    frequencies: Int, channels: Int, directions: Int,
    write: (UnsafeMutablePointer<Complex>) throws(Failure) -> Void
  ) throws(Failure) {
    self.frequencies = frequencies
    self.channels = channels
    self.directions = directions
    var failure: Failure?
    values = [Complex](unsafeUninitializedCapacity: frequencies * channels * directions) { values, size in
      size = frequencies * channels * directions
      guard let values = values.baseAddress else { return }
      do throws(Failure) { try write(values) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  @inlinable package subscript(frequency: Int, channel: Int, direction: Int) -> Complex {
    get { values[(frequency * channels + channel) * directions + direction] }
    set { values[(frequency * channels + channel) * directions + direction] = newValue }
  }

  /// The responses of selected channels, in the given order.
  package func selecting(channels order: [Int]) -> ResponseGrid {
    if order == Array(0..<channels) { return self }
    var result = ResponseGrid(frequencies: frequencies, channels: order.count, directions: directions)
    for f in 0..<frequencies {
      for (to, from) in order.enumerated() {
        let source = (f * channels + from) * directions
        let target = (f * order.count + to) * directions
        result.values.replaceSubrange(
          target..<target + directions, with: values[source..<source + directions])
      }
    }
    return result
  }

  /// The responses from selected directions, in the given order.
  package func selecting(directions order: [Int]) -> ResponseGrid {
    if order == Array(0..<directions) { return self }
    var result = ResponseGrid(frequencies: frequencies, channels: channels, directions: order.count)
    values.withUnsafeBufferPointer { values in
      result.values.withUnsafeMutableBufferPointer { result in
        for row in 0..<frequencies * channels {
          for (to, from) in order.enumerated() {
            result[row * order.count + to] = values[row * directions + from]
          }
        }
      }
    }
    return result
  }
}

extension ResponseGrid {
  /// Multiplies the responses from each direction by its factor.
  package mutating func scale(directionsBy factors: [Double]) {
    if factors.allSatisfy({ $0 == 1 }) { return }
    values.withUnsafeMutableBufferPointer { values in
      factors.withUnsafeBufferPointer { factors in
        for row in stride(from: 0, to: values.count, by: factors.count) {
          for d in factors.indices { values[row + d] = factors[d] * values[row + d] }
        }
      }
    }
  }
}
