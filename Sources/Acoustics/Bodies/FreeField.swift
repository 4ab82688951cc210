/// No body: the microphones are in the free field.
public struct FreeField: BodyShape {
  public init() {}

  public func phrase(_ placement: Placement) -> String { "none" }

  public var capsuleFault: String? { nil }

  public func key(hash: (_ path: String) -> String) -> String { "free" }
}
