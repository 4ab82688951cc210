import Acoustics

/// The answer to `inputs`: the available inputs with their data sources.
package struct InputsReport: Codable, Sendable {
  /// A case for which no filters meet the requirements, or whose filters are weak.
  package struct Remark: Codable, Sendable {
    package var polarPattern = PolarPattern.omnidirectional
    /// Null for mono patterns.
    package var inputOrientation: InputOrientation?
    package var reason = ""

    package func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(polarPattern, forKey: .polarPattern)
      try container.encode(inputOrientation, forKey: .inputOrientation)
      try container.encode(reason, forKey: .reason)
    }

    package init() {}
  }
  package struct DataSourceReport: Codable, Sendable {
    package var id: UInt32 = 0
    package var name = ""
    package var location: DataSource.Location?
    package var orientation = DataSource.Orientation.bottom
    package var supportedPolarPatterns: [PolarPattern] = []
    package var stereoOrientations: [InputOrientation] = []
    package var notOffered: [Remark] = []
    package var weak: [Remark] = []
    package var selected = false
    /// Nil if another data source is selected.
    package var selectedPolarPattern: PolarPattern?

    package init() {}
  }
  package struct Port: Codable, Sendable {
    package var portType = PortType.builtInMic
    package var name = ""
    package var uid = ""

    package init() {}
  }
  package struct Input: Codable, Sendable {
    package var portType = PortType.builtInMic
    package var name = ""
    package var uid = ""
    /// Whether the input is in the route.
    package var active = false
    /// Null if the input offers no choice.
    package var dataSources: [DataSourceReport]?

    package init() {}
  }

  package var inputs: [Input] = []

  package init() {}
}
