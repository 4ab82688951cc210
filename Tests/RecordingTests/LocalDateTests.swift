import Foundation
import Recording
import Testing

/// Dates in local time, compared with Foundation's. Each time zone is tested in a process of its own, because it is a
/// setting of the process.
@Suite("Local dates") struct LocalDateTests {
  @Test(
    "dates, times and beginnings of days are Foundation's, also where clocks change",
    arguments: [
      "UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Asia/Kathmandu", "Pacific/Kiritimati",
      // Clocks change at midnight, or by half an hour.
      "America/Sao_Paulo", "America/Havana", "Asia/Beirut", "Australia/Lord_Howe", "Africa/Casablanca",
    ])
  func zones(zone: String) async {
    await #expect(processExitsWith: .success) { [zone] in
      setenv("TZ", zone, 1)
      tzset()
      let timeZone = try #require(TimeZone(identifier: zone))
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = timeZone
      func formatter(_ format: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = timeZone
        formatter.dateFormat = format
        return formatter
      }
      let stamp = formatter("yyyy-MM-dd'T'HH:mm:ss.SSSxxx")
      let (day, time) = (formatter("yyyy-MM-dd"), formatter("HH:mm:ss"))
      // 2012 to 2032 (until 2011, St. John's set its clocks back at 00:01: a day began twice), and each quarter of an hour around changes of the clock.
      var dates = (0..<4000).map { Date(timeIntervalSince1970: 1_325_376_000 + Double($0) * 157_788.377_3) }
      var change = dates[0]
      while let next = timeZone.nextDaylightSavingTimeTransition(after: change), next < dates.last! {
        change = next
        dates += (-120...120).map { next + 900 * Double($0) + ($0 % 3 == 0 ? -0.001 : 0.25) }
      }
      var differences: [String] = []
      for date in dates {
        let texts = [date.localTimestamp, date.localText("%Y-%m-%d"), date.localText("%H:%M:%S")]
        let expected = [stamp.string(from: date), day.string(from: date), time.string(from: date)]
        let (midnight, expectedMidnight) = (date.startOfLocalDay, calendar.startOfDay(for: date))
        if texts != expected || midnight != expectedMidnight {
          differences.append("\(texts) \(midnight), not \(expected) \(expectedMidnight)")
        }
      }
      for difference in differences.prefix(5) { Issue.record("\(difference)") }
    }
  }
}
