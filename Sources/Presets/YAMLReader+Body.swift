import Acoustics
import Text

extension YAMLReader {
  /// Reads `free`, `{sphere: RADIUS}`, `{box: [X, Y, Z]}`, or the files of a measurement.
  func body(_ placement: Placement) throws(DescriptionError) -> Body {
    let forms =
      "write free, {sphere: RADIUS}, {cylinder: RADIUS} or {box: [X, Y, Z]} in millimetres, {sofa: FILE}, or "
      + "{impulseResponses: FILE, directions: FILE}"
    if let word = scalar {
      guard word.lowercased() == "free" else { throw failure("is \(word.quoted); \(forms)") }
      return .free
    }
    guard case .mapping(let entries) = node.content else { throw failure("is not a body; \(forms)") }
    let fields = try self.fields(["sphere", "cylinder", "box", "sofa", "impulseResponses", "directions"])
    let keys = Set(entries.map(\.key))
    guard keys.count == 1 || keys == ["impulseResponses", "directions"] else {
      throw failure("does not describe exactly one body; \(forms)")
    }
    if let radius = fields.optional("sphere") {
      return .sphere(radius: try radius.metres(in: RigidSphere.radii))
    }
    if let radius = fields.optional("cylinder") {
      return .cylinder(radius: try radius.metres(in: RigidCylinder.radii))
    }
    if let size = fields.optional("box") {
      let edges = RigidBox.edgeLengths
      let inFile = try size.vector(in: 1000 * edges.lowerBound...1000 * edges.upperBound, unit: "mm") / 1000
      let turned = placement.turned(inFile)
      return .box(size: [abs(turned.x), abs(turned.y), abs(turned.z)])
    }
    if let sofa = fields.optional("sofa") {
      return .measured(.sofa(path: try sofa.filePath(kind: "a SOFA file")))
    }
    let responses = try fields.required("impulseResponses", example: "responses.wav")
    let directions = try fields.required("directions", example: "directions.csv")
    return .measured(
      .impulseResponses(
        path: try responses.filePath(kind: "a WAV of impulse responses"),
        directions: try directions.filePath(kind: "a table of directions")))
  }

  /// Reads a number of millimetres.
  private func metres(in range: ClosedRange<Double>) throws(DescriptionError) -> Double {
    try number(in: 1000 * range.lowerBound...1000 * range.upperBound, unit: "mm") / 1000
  }
}
