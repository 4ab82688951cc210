import Foundation
import Testing

/// Whether this is `make nightly`.
public let isNightly = ProcessInfo.processInfo.environment["PINNA_NIGHTLY"] != nil

extension Trait where Self == ConditionTrait {
  /// A test that takes seconds of a processor: `make test` runs it, and `make check`, for use while working, does not.
  public static var long: Self {
    .disabled(
      if: ProcessInfo.processInfo.environment["PINNA_QUICK"] == "1", "`make test` runs this long test")
  }

  /// A test that takes many seconds: `make nightly` runs it, and the gate does not. The gate may also run a test with some of
  /// its cases (`isNightly`).
  public static var nightly: Self {
    .enabled(if: isNightly, "part of `make nightly`: set PINNA_NIGHTLY=1")
  }
}
