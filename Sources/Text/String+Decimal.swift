extension StringProtocol {
  /// The number that the text writes in decimal notation; nil for any other text. `Double(_:)` also accepts "nan",
  /// "inf" and "0x1p3".
  package var decimal: Double? {
    guard utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }), let value = Double(self), value.isFinite
    else { return nil }
    return value
  }
}
