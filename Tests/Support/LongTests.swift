import Foundation
import Testing

extension Trait where Self == ConditionTrait {
  /// A test that takes seconds of a processor: `make test` runs it, and `make check`, for use while working, does not.
  public static var long: Self {
    .disabled(
      if: ProcessInfo.processInfo.environment["PINNA_QUICK"] == "1", "`make test` runs this long test")
  }
}
