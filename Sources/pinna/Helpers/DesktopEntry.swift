/// Pinna among the applications of a desktop.
enum DesktopEntry {
  /// As AppStream has it; names the entry, its icon and its metadata (`/packaging`).
  static let id = "org.pinna_audio.pinna"
}
