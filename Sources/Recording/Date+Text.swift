import FoundationEssentials
import Glibc

/// Dates in local time, as C's library knows it: independent of the user's language. Any thread.
extension Date {
  /// - Parameter format: of `strftime`, such as "%Y-%m-%d".
  package func localText(_ format: String) -> String {
    var (fields, _) = localFields
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 100) { text in
      strftime(text.baseAddress!, text.count, format, &fields) > 0 ? String(cString: text.baseAddress!) : ""
    }
  }

  /// "2026-11-26T04:05:06.123+01:00"
  package var localTimestamp: String {
    func digits(_ number: Int, _ count: Int = 2) -> String {
      String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
    }
    let (fields, milliseconds) = localFields
    let minutes = abs(fields.tm_gmtoff) / 60
    return localText("%Y-%m-%dT%H:%M:%S") + "." + digits(milliseconds, 3) + (fields.tm_gmtoff < 0 ? "-" : "+")
      + digits(minutes / 60) + ":" + digits(minutes % 60)
  }

  /// Reads a `localTimestamp`, or the beginning of a take's name, which has the time without its offset from UTC: then it
  /// is of this system's time zone.
  init?(takeTime text: String) {
    let format = /(\d{4})-(\d\d)-(\d\d)T(\d\d):?(\d\d):?(\d\d)(?:\.(\d{3})([+-])(\d\d):(\d\d))?/
    guard let found = text.prefixMatch(of: format)?.output else { return nil }
    func number(_ digits: Substring?) -> Int32 { digits.flatMap { Int32($0) } ?? 0 }
    var fields = tm()
    (fields.tm_year, fields.tm_mon, fields.tm_mday) = (
      number(found.1) - 1900, number(found.2) - 1, number(found.3)
    )
    (fields.tm_hour, fields.tm_min, fields.tm_sec) = (number(found.4), number(found.5), number(found.6))
    fields.tm_isdst = -1
    guard let sign = found.8 else {
      self.init(timeIntervalSince1970: Double(mktime(&fields)))
      return
    }
    let offset = 60 * (60 * number(found.9) + number(found.10))
    let seconds = timegm(&fields) + Int(sign == "-" ? offset : -offset)
    self.init(timeIntervalSince1970: Double(seconds) + Double(number(found.7)) / 1000)
  }

  /// The first second of the date's day; not 00:00 where clocks are advanced at midnight.
  package var startOfLocalDay: Date {
    func day(_ second: time_t) -> (Int32, Int32) {
      let fields = Self.fields(second)
      return (fields.tm_year, fields.tm_yday)
    }
    // The day's first second lies in (earlier, later].
    var later = Int(timeIntervalSince1970.rounded(.down))
    var earlier = later - 30 * 3600
    let today = day(later)
    while later - earlier > 1 {
      let middle = earlier + (later - earlier) / 2
      if day(middle) < today { earlier = middle } else { later = middle }
    }
    return Date(timeIntervalSince1970: Double(later))
  }

  /// Rounded to a millisecond.
  private var localFields: (tm, milliseconds: Int) {
    let milliseconds = Int((timeIntervalSince1970 * 1000 + 0.5).rounded(.down))
    let second = Int((Double(milliseconds) / 1000).rounded(.down))
    return (Self.fields(second), milliseconds - 1000 * second)
  }

  private static func fields(_ second: time_t) -> tm {
    var (second, fields) = (second, tm())
    localtime_r(&second, &fields)
    return fields
  }
}
