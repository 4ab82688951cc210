/// Texts of preset files that several suites use.
public enum PresetTexts {
  /// A preset of every kind of feed, whose filters ship.
  public static let table = """
    title: Table
    device: tetramic
    dataSource: Front
    polarPattern: stereo
    inputOrientation: portrait
    gain: -4.5
    highPass: 80
    feeds:
      anna: {dataSource: Left, polarPattern: cardioid, gain: -3}
      room: {format: ambix, gain: 2}
      low: {polarPattern: omnidirectional, highPass: 120}
    """
}
