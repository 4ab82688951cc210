/// Where the system describes its sound cards. Tests name recorded trees instead.
public struct SystemFolders: Hashable, Sendable {
  /// What the kernel's ALSA drivers publish.
  public let asound: String
  public let sysfs: String
  /// What ALSA's use-case manager has stored about each card.
  public let alsaState: String

  public init(asound: String = "/proc/asound", sysfs: String = "/sys", alsaState: String = "/var/lib/alsa") {
    self.asound = asound
    self.sysfs = sysfs
    self.alsaState = alsaState
  }

  /// The system's own folders, except for those that `PINNA_PROC_ASOUND`, `PINNA_SYSFS` and `PINNA_ALSA_STATE` name.
  public init(environment: [String: String]) {
    self.init(
      asound: environment["PINNA_PROC_ASOUND"] ?? "/proc/asound", sysfs: environment["PINNA_SYSFS"] ?? "/sys",
      alsaState: environment["PINNA_ALSA_STATE"] ?? "/var/lib/alsa")
  }
}
