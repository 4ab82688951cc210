import Glibc

extension String {
  /// Formats numbers as C's `printf` does.
  ///
  /// Disfavoured: where Foundation is imported too, as in tests, its initialiser of the same name is called.
  /// - Parameters:
  ///   - format: such as "%.1f dB"; conversions of numbers only.
  ///   - arguments: one for each conversion, of its type.
  @_disfavoredOverload
  package init(format: String, _ arguments: any CVarArg...) {
    self = Self.formatted(format, arguments)
  }

  /// `String(format:)` with its arguments in an array.
  package static func formatted(_ format: String, _ arguments: [any CVarArg]) -> String {
    // Twice, because the first call only measures; a list of arguments can be read once.
    let count = Int(withVaList(arguments) { vsnprintf(nil, 0, format, $0) })
    guard count > 0 else { return "" }
    // With C's terminating zero.
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: count + 1) { buffer in
      _ = withVaList(arguments) { vsnprintf(buffer.baseAddress, count + 1, format, $0) }
      return String(cString: buffer.baseAddress!)
    }
  }
}

extension Double {
  /// "8" for 8, and "0.5" for 0.5.
  package var plain: String { self == rounded() && abs(self) < 1e15 ? "\(Int(self))" : "\(self)" }
}

extension String {
  /// Such as "1 frame" or "2 frames".
  package func counted(_ count: Int) -> String { "\(count) \(self)\(count == 1 ? "" : "s")" }
}
