extension Result {
  /// The error as text; nil for a success.
  var fault: String? {
    if case .failure(let error) = self { "\(error)" } else { nil }
  }
}
