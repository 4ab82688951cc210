/// A phone with a headset and a line input of the graph's: three kinds of inputs.
public enum Handset {
  /// Writes the device and its preset into a new home.
  public static func home() throws -> PinnaHome {
    let home = try PinnaHome()
    try home.folder.write(
      """
      title: Handset
      body: {box: [72, 147, 8]}
      microphones:
        bottom: [0, -73.5, 0]
        front: [0, 65, 4]
        back: [0, 65, -4]
      dataSources:
        Bottom: {location: lower, forward: -y, microphones: [bottom], polarPatterns: [omnidirectional]}
        Front:
          {location: upper, forward: +z, microphones: [front, back], polarPatterns: [omnidirectional, cardioid]}
      inputs:
        wired: {title: Wired headset, portType: headsetMic, body: free, microphones: {boom: [0, 0, 0]}}
        hands-free:
          title: Hands-free
          portType: bluetoothHFP
          body: free
          microphones: {mouth: [0, 0, 0]}
          playbackPorts: ["system:playback_3", "system:playback_4"]
      """, to: "config/pinna/devices/handset.yaml")
    try home.folder.write(
      """
      title: Handset
      device: handset
      dataSource: Front
      polarPattern: cardioid
      inputOrientation: portrait
      """, to: "config/pinna/handset.yaml")
    return home
  }
}
