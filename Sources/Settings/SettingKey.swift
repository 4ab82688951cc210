import Acoustics

/// What can be set, as commands and OSC paths call it. Each is an option of `pinna set`, and has a row.
public enum SettingKey: String, NamedWord {
  case input
  case dataSource = "data-source"
  case pattern, orientation, look, roll, yaw, follow, gain
  case highPass = "high-pass"
  case adapt, wind, part, frame, room, talkers, mute, output, listen, seat

  /// Those that make a feed's filters follow the sound.
  public static let following: [SettingKey] = [.adapt, .wind, .part, .frame, .room, .talkers]

  /// The angles of the pose.
  public static let angles: [SettingKey] = [.roll, .yaw]

  public static let kind = "setting"

  /// The settings that each feed has.
  public static let ofFeeds = allCases.filter { $0.row.feed != nil }
}
