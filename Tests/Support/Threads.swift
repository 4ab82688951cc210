import Foundation

/// A test's threads, which are waited for together.
public struct Threads {
  private let group = DispatchGroup()

  public init() {}

  public func start(_ name: String = "", _ body: @escaping @Sendable () -> Void) {
    group.enter()
    let thread = Thread { [group] in
      body()
      group.leave()
    }
    thread.name = name
    thread.start()
  }

  public func wait() { group.wait() }
}
