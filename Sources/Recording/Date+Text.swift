import Foundation

extension Date {
  /// In local time, the same in every language.
  /// - Parameter format: of Unicode TR 35: "yyyy-MM-dd".
  func text(_ format: String) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = format
    return formatter.string(from: self)
  }
}
