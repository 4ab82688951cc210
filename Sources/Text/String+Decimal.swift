extension StringProtocol {
  /// The number that the text writes in decimal notation; nil for any other text. `Double(_:)` also accepts "nan",
  /// "inf" and "0x1p3".
  package var decimal: Double? {
    guard utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }), let value = Double(self), value.isFinite
    else { return nil }
    return value
  }

  /// The same with a unit behind it: "80 Hz", "-3dB"; "60°" for degrees.
  package func decimal(unit: String) -> Double? {
    let words = unit == "degrees" ? ["degrees", "deg", "°"] : [unit]
    for word in words where !word.isEmpty && count > word.count && lowercased().hasSuffix(word.lowercased()) {
      let number = dropLast(word.count)
      return number.prefix(number.count - (number.last == " " ? 1 : 0)).decimal
    }
    return decimal
  }
}
