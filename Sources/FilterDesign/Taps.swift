/// FIR filters from every microphone to every output: of doubles while they are designed, of floats when they are finished.
/// - Shape: `[output][microphone][tap]`, flat in that order.
public struct Taps<Value: BinaryFloatingPoint & Sendable>: Sendable, Equatable {
  public let outputs: Int
  public let microphones: Int
  /// Of every filter.
  public let length: Int
  public private(set) var values: [Value]

  /// Filters of zeros.
  public init(outputs: Int, microphones: Int, length: Int) {
    self.init(
      outputs: outputs, microphones: microphones, length: length,
      values: [Value](repeating: 0, count: outputs * microphones * length))
  }

  private init(outputs: Int, microphones: Int, length: Int, values: [Value]) {
    self.outputs = outputs
    self.microphones = microphones
    self.length = length
    self.values = values
  }

  /// - Parameter filters: `[output][microphone][tap]`: as many microphones for each output, as many taps for each filter.
  public init(_ filters: [[[Value]]]) {
    let (microphones, length) = (filters.first?.count ?? 0, filters.first?.first?.count ?? 0)
    precondition(
      filters.allSatisfy { $0.count == microphones && $0.allSatisfy { $0.count == length } },
      "all filters have the same length")
    self.init(
      outputs: filters.count, microphones: microphones, length: length,
      values: Array(filters.joined().joined()))
  }

  /// The same filters in another precision.
  public init(_ other: Taps<some BinaryFloatingPoint & Sendable>) {
    self.init(
      outputs: other.outputs, microphones: other.microphones, length: other.length,
      values: other.values.map { Value($0) })
  }

  private func index(_ output: Int, _ microphone: Int, _ tap: Int) -> Int {
    precondition((0..<microphones).contains(microphone) && (0..<length).contains(tap))
    return (output * microphones + microphone) * length + tap
  }

  private func range(_ output: Int, _ microphone: Int) -> Range<Int> {
    precondition((0..<microphones).contains(microphone))
    let start = (output * microphones + microphone) * length
    return start..<start + length
  }

  /// One filter.
  public subscript(output: Int, microphone: Int) -> ArraySlice<Value> {
    get { values[range(output, microphone)] }
    set {
      precondition(newValue.count == length)
      values.replaceSubrange(range(output, microphone), with: newValue)
    }
  }

  public subscript(output: Int, microphone: Int, tap: Int) -> Value {
    get { values[index(output, microphone, tap)] }
    set { values[index(output, microphone, tap)] = newValue }
  }

  /// The filters of one output: `[microphone][tap]`.
  public subscript(output: Int) -> [[Value]] { (0..<microphones).map { Array(self[output, $0]) } }

  /// The filters as the engine takes them: `[output][microphone][tap]`.
  public var filters: [[[Value]]] { (0..<outputs).map { self[$0] } }

  /// The filters as the channels of a file hold them: `[output, microphone][tap]`.
  public var channels: [[Value]] { (0..<outputs).flatMap { self[$0] } }

  /// The filters of the first `count` outputs.
  public func prefix(outputs count: Int) -> Taps {
    Taps(
      outputs: count, microphones: microphones, length: length,
      values: Array(values.prefix(count * microphones * length)))
  }

  public func scaled(by factor: Value) -> Taps {
    Taps(outputs: outputs, microphones: microphones, length: length, values: values.map { factor * $0 })
  }
}

extension Taps: ExpressibleByArrayLiteral {
  /// One element for each output: `[microphone][tap]`.
  public init(arrayLiteral outputs: [[Value]]...) { self.init(outputs) }
}
