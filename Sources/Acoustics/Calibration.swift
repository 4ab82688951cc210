/// How the microphones of one array deviate from its device file, as measured.
public struct Calibration: Hashable, Sendable {
  /// What was measured.
  public enum Source: String, NamedWord, Codable {
    /// The microphones in the JACK graph.
    case live
    case file
    /// What `pinna simulate` computed: the deviations are those of a scene.
    case simulated

    public static let kind = "source of a calibration"

    /// "a recording", as in "measured in a recording".
    public var phrase: String {
      switch self {
      case .live: "live sound"
      case .file: "a recording"
      case .simulated: "a simulated scene"
      }
    }
  }

  /// By microphone; those that are missing do not deviate.
  public let deviations: [String: Deviation]
  /// The day on which it was measured: "2026-11-23".
  public let date: String
  /// How it was measured, for people: "10 s of diffuse sound".
  public let method: String
  /// Nil if its file does not say.
  public let source: Source?

  public init(deviations: [String: Deviation], date: String, method: String, source: Source? = nil) {
    self.deviations = deviations
    self.date = date
    self.method = method
    self.source = source
  }

  /// The day and what was measured: "2026-11-23 in a recording".
  public var origin: String { source.map { "\(date) in \($0.phrase)" } ?? date }

  /// What the reader of results on a model must know; it continues "the array was". An ideal array would be judged by
  /// what the filters undo of the real one.
  public var remarkOnModel: String {
    "simulated with the deviations that were measured on \(origin), which its filters undo"
  }
}
