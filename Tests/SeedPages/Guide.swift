// What three listings of a guide need around them: names that were global when it was written, and a choice of listing.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

import PinnaSession

let AudioSessionCategoryRecord = AudioSession.Category.record
let AudioSessionModeDefault = AudioSession.Mode.default
let AudioSessionOrientationFront = PinnaSession.Orientation.front
let AudioSessionPolarPatternCardioid = PolarPattern.cardioid
let AudioSessionPortBuiltInMic = PortType.builtInMic

/// Patterns were their names.
func ?? (pattern: PolarPattern?, none: String) -> String { pattern?.title ?? none }

func hardware() throws {
  // LISTING 1
}

func cardioid() throws {
  // LISTING 2
}

func simulator() {
  // LISTING 3
}

try hardware()
if CommandLine.arguments.contains("cardioid") { try cardioid() }
simulator()
