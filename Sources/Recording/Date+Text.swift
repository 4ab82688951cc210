import Foundation

extension Date {
  /// Formats the date in local time, independent of the user's language. Any thread.
  /// - Parameter format: a Unicode TR 35 pattern, such as "yyyy-MM-dd".
  func text(_ format: String) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = format
    return formatter.string(from: self)
  }
}
