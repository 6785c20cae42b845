package import Foundation

/// A moment as servers write it, in whole seconds: RFC 9110 section 5.6.7.
package struct HTTPDate: Hashable, Comparable, Sendable {
  /// Seconds since the beginning of 1970, UTC; of the years 0 to 9999.
  package let seconds: Int64

  /// The first second of the year 0: earlier than whatever a server means.
  package static let earliest = HTTPDate(seconds: -62_167_219_200)
  package static let latest = HTTPDate(seconds: 253_402_300_799)

  /// Takes a number of seconds, or the nearest one that has a date.
  package init(clamping seconds: Int64) {
    self.seconds = min(max(seconds, Self.earliest.seconds), Self.latest.seconds)
  }

  /// Takes a moment of this machine's clock, without its fraction of a second.
  package init(_ date: Date) {
    // Not every `Double` is an integer: a date may be infinitely far away, or not a number.
    let seconds = Int64(exactly: date.timeIntervalSince1970.rounded(.down))
    self.init(clamping: seconds ?? (date > Date.distantPast ? .max : .min))
  }

  private init(seconds: Int64) { self.seconds = seconds }

  /// Reads a date in one of the three formats; the day of the week is not compared with the date.
  ///
  /// - Parameter now: Decides the century of a year of two digits. The year is the last one that is at
  ///   most fifty years ahead.
  init?(_ text: String, now: HTTPDate) {
    var reader = FieldReader(text)
    guard let weekday = reader.run({ $0 > 0x40 }) else { return nil }
    let date: Int64?
    if Self.weekdays.contains(weekday) {
      date = reader.take(", ") ? Self.fixed(&reader) : Self.asctime(&reader)
    } else if Self.longWeekdays.contains(weekday), reader.take(", ") {
      date = Self.obsolete(&reader, now)
    } else {
      return nil
    }
    guard let date, reader.isAtEnd else { return nil }
    // A leap second at the end of the year 9999 has no date of its own.
    self.init(clamping: date)
  }

  var date: Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }

  package static func < (first: HTTPDate, second: HTTPDate) -> Bool {
    first.seconds < second.seconds
  }

  // MARK: Formats

  private static let longWeekdays = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]
  private static let weekdays = longWeekdays.map { String($0.prefix(3)) }
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// `06 Nov 1994 08:49:37 GMT`
  private static func fixed(_ reader: inout FieldReader) -> Int64? {
    guard let day = reader.number(digits: 2), reader.take(" "),
      let month = month(&reader), reader.take(" "),
      let year = reader.number(digits: 4), reader.take(" "),
      let time = time(&reader), reader.take(" GMT")
    else { return nil }
    return seconds(year: year, month: month, day: day, time: time)
  }

  /// `06-Nov-94 08:49:37 GMT`
  private static func obsolete(_ reader: inout FieldReader, _ now: HTTPDate) -> Int64? {
    guard let day = reader.number(digits: 2), reader.take("-"),
      let month = month(&reader), reader.take("-"),
      let shortYear = reader.number(digits: 2), reader.take(" "),
      let time = time(&reader), reader.take(" GMT")
    else { return nil }
    // 146 097 days are four centuries; a year has 365.2425 of them.
    let fiftyYears: Int64 = 50 * 146_097 * 86_400 / 400
    let presentYear = Int(1970 + Double(now.seconds) / (365.2425 * 86_400))
    for century in stride(from: presentYear / 100 + 1, through: presentYear / 100 - 1, by: -1) {
      let year = century * 100 + shortYear
      guard let date = seconds(year: year, month: month, day: day, time: time) else { continue }
      if date <= now.seconds + fiftyYears { return date }
    }
    return nil
  }

  /// `Nov  6 08:49:37 1994`
  private static func asctime(_ reader: inout FieldReader) -> Int64? {
    guard reader.take(" "), let month = month(&reader), reader.take(" "),
      let day = reader.take(" ") ? reader.number(digits: 1) : reader.number(digits: 2),
      reader.take(" "), let time = time(&reader), reader.take(" "),
      let year = reader.number(digits: 4)
    else { return nil }
    return seconds(year: year, month: month, day: day, time: time)
  }

  private static func month(_ reader: inout FieldReader) -> Int? {
    reader.run { $0 > 0x40 }.flatMap { months.firstIndex(of: $0) }.map { $0 + 1 }
  }

  /// `08:49:37`; the second 60 is a leap second and means the next minute's first.
  private static func time(_ reader: inout FieldReader) -> Int? {
    guard let hour = reader.number(digits: 2), hour < 24, reader.take(":"),
      let minute = reader.number(digits: 2), minute < 60, reader.take(":"),
      let second = reader.number(digits: 2), second <= 60
    else { return nil }
    return hour * 3600 + minute * 60 + second
  }

  // MARK: Calendar

  private static func seconds(year: Int, month: Int, day: Int, time: Int) -> Int64? {
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let dayCount = month == 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    guard year >= 0, (1...dayCount).contains(day) else { return nil }
    // Years begin with March here, so that a leap day is the last day of a year. Four centuries more
    // keep all numbers positive.
    let shiftedYear = year + 400 - (month < 3 ? 1 : 0)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let leapDays = shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
    // 719 468 days lie between 1 March of the year 0 and 1 January 1970.
    let days = 365 * shiftedYear + leapDays + dayOfYear - 719_468 - 146_097
    return Int64(days * 86_400 + time)
  }
}
