import Realtime
import Synchronization

/// When the graph has changed lately. PipeWire leaves a client out of periods around a change, and tells it of the change
/// up to a tenth of a second later.
///
/// Thread: any but the realtime thread.
public final class GraphHistory: Sendable {
  private struct Change {
    let cause: TakeGap.Cause
    /// On the monotonic clock, in microseconds.
    var times: ClosedRange<Int>
  }

  private struct Values {
    /// The oldest first.
    var changes: [Change] = []
    /// When the server last went over to freewheel; nil while it is not in it.
    var freewheelStart: Int?
  }

  private let values = Mutex(Values())
  private static let most = 256
  /// How far from a change, in microseconds, it counts: before the first missing frame, and after the last.
  private static let (before, after) = (20_000, 100_000)

  /// Notes a change. Many at once, as of a client with many ports, are one.
  func note(_ cause: TakeGap.Cause, isFreewheel: Bool? = nil, now: Int = RealtimeCalls.microseconds()) {
    values.withLock { values in
      if let isFreewheel {
        values.freewheelStart = isFreewheel ? values.freewheelStart ?? now : nil
      }
      if let last = values.changes.indices.last, values.changes[last].cause == cause,
        now - values.changes[last].times.upperBound < Self.before
      {
        let times = values.changes[last].times
        values.changes[last].times = times.lowerBound...max(now, times.upperBound)
      } else {
        values.changes = values.changes.suffix(Self.most - 1) + [Change(cause: cause, times: now...now)]
      }
    }
  }

  /// Why Pinna missed the frames of that time, on the monotonic clock in microseconds; nil if nothing changed then.
  public func cause(of gap: Range<Int>) -> TakeGap.Cause? {
    values.withLock { values in
      if let start = values.freewheelStart, start < gap.upperBound { return .freewheel }
      let around = gap.lowerBound - Self.before...gap.upperBound + Self.after
      let found = values.changes.filter { $0.times.overlaps(around) }.map(\.cause)
      return [.freewheel, .period, .graph].first(where: found.contains)
    }
  }
}
