import FigureSupport
import Figures
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Numerics
import Presets

// Prints the table of figures of the shipped presets as Markdown, on the full mesh and with all draws of the
// array's errors. Ends with status 1 if a required figure is missed.

useSingleThreadedBLAS()

func note(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

/// A report of freshly designed filters, and the duration of the design.
func measure(_ name: String, in library: PresetLibrary) throws -> (report: Report, seconds: Double) {
  let device = try library.device(named: try library.preset(named: name).device)
  let start = ContinuousClock.now
  let bank = try FilterBank.design(device: device, sampleRate: 48000)
  let seconds = (ContinuousClock.now - start) / .seconds(1)
  note("\(name): designed in \(plain(seconds)) s")
  let manifold = try referenceManifold(for: device)
  return (try Report(bank: bank, device: device, preset: name, manifold: manifold), seconds)
}

func row(_ cells: String...) { print("| " + cells.joined(separator: " | ") + " |") }

// The shipped presets, whatever presets the user has.
let library = PresetLibrary(folders: ["Presets"])
var missed = 0
var missedAims = 0
var reports: [String: Report] = [:]
var designSeconds = 0.0
for preset in Set(Requirement.all.map(\.preset)).sorted() {
  let measured = try measure(preset, in: library)
  reports[preset] = measured.report
  if preset == "phone5" { designSeconds = measured.seconds }
}

/// Whether `value` is within `must` and `aim`, as text. Counts the missed ones.
@MainActor func verdict(_ value: Double?, must: Bound?, aim: Bound?) -> String {
  guard let value else {
    if must != nil { missed += 1 }
    return must == nil ? "not there" : "**missed**: not there"
  }
  if let must, must.margin(value) < 0 {
    missed += 1
    return "**missed**"
  }
  guard let aim else { return "reached" }
  if aim.margin(value) >= 0 { return must == nil ? "aim reached" : "reached, aim too" }
  missedAims += 1
  return must == nil ? "aim not reached" : "reached"
}

row("item", "preset", "figure", "must", "aim", "reached", "mean loss", "where", "")
row("---", "---", "---", "---", "---", "---", "---", "---", "---")
for requirement in Requirement.all {
  let worst = requirement.worst(in: reports[requirement.preset]!)
  row(
    requirement.item, requirement.preset, requirement.figureName, requirement.must?.description ?? "",
    requirement.aim?.description ?? "", worst.map { plain($0.value) } ?? "–",
    worst?.loss.map(plain) ?? "", worst?.place ?? "",
    verdict(worst?.value, must: requirement.must, aim: requirement.aim))
}
let (mustTime, aimTime) = (Bound.atMost(60), Bound.atMost(15))
row(
  "time to all filter sets", "phone5", "seconds", mustTime.description, aimTime.description,
  plain(designSeconds), "", "this machine", verdict(designSeconds, must: mustTime, aim: aimTime))
print("\nError of the mesh that designs use, in dB per octave, against a converged one (A11)\n")
row("body, mm", "modelled up to", MeshErrors.centres.map { "\($0) Hz" }.joined(separator: " | "), "")
row("---", "---", MeshErrors.centres.map { _ in "---" }.joined(separator: " | "), "---")
for body in try MeshErrors.bodies(phone: library.device(named: "phone5")) {
  let cells = MeshErrors.centres.map { body.errors[$0].map(plain) ?? "–" }
  if !body.isReached { missed += 1 }
  row(
    body.name, plain(body.highestFrequency / 1000) + " kHz", cells.joined(separator: " | "),
    body.isReached ? "reached" : "**missed**")
  note("mesh of \(body.name) measured")
}
print("\n\(missed) figures that must be reached are missed, \(missedAims) of those aimed at.")
exit(missed == 0 ? 0 : 1)
