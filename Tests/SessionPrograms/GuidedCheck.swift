import PinnaSession

/// The library page shows the body of this function.
func guidedCheck() throws {
  // Takes seconds, and minutes where the filters are designed first.
  let check = try DeviceCheck(preset: "linear8")
  let results = try check.run()
  for one in results.cases {
    print("\(one.checked.name): \(one.isRight ? "right" : "wrong")")
    for voice in one.voices {
      let side = voice.expectation.side?.rawValue ?? "any side"
      let verdict = voice.fault ?? voice.weakness ?? "right"
      print("  \(voice.direction), expected: \(side), \(voice.levelDifference) dB: \(verdict)")
    }
  }
}
