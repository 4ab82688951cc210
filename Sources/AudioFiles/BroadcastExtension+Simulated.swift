/// `pinna simulate` marks its files, so that what is measured in them is not taken for the real array.
extension BroadcastExtension {
  private static let mark = "simulated by pinna: "

  /// The mark of a simulated scene.
  public static func simulated(_ title: String) -> BroadcastExtension {
    BroadcastExtension(description: mark + title, date: "", time: "", timeReference: 0)
  }

  /// The title of the scene in the sound file at `path`; nil if that is not marked as simulated.
  public static func simulatedScene(at path: String) -> String? {
    description(at: path).flatMap { simulatedScene(described: $0) }
  }

  /// - Parameter description: of the broadcast extension.
  static func simulatedScene(described description: String) -> String? {
    description.hasPrefix(mark) ? String(description.dropFirst(mark.count)) : nil
  }
}
