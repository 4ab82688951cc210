/// Complex responses over frequency, channel (microphone or ear) and direction.
/// - Shape: `[frequency][channel][direction]`, flat in that order.
/// - Convention: e^(+jωt), relative to the free field at the origin.
package struct ResponseGrid: Sendable {
  package let frequencies: Int
  package let channels: Int
  package let directions: Int
  package var values: [Complex]

  package init(frequencies: Int, channels: Int, directions: Int) {
    self.frequencies = frequencies
    self.channels = channels
    self.directions = directions
    values = [Complex](repeating: .zero, count: frequencies * channels * directions)
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
        for d in 0..<directions { result.values[target + d] = values[source + d] }
      }
    }
    return result
  }

  /// The responses from selected directions, in the given order.
  package func selecting(directions order: [Int]) -> ResponseGrid {
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
    values.withUnsafeMutableBufferPointer { values in
      for i in values.indices { values[i] = factors[i % factors.count] * values[i] }
    }
  }
}
