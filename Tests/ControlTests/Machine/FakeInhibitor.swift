import Processor

final class FakeInhibitor: SleepInhibitor {
  var fault: String?
  private(set) var isReleased = false
  func release() { isReleased = true }
}
