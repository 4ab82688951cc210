import Acoustics
import FilterBanks

/// The answer to `inputs`: the inputs that can be chosen, with their data sources.
package struct InputsReport: Codable, Sendable {
  /// What the device file asks for and no filters make work.
  package struct NotOffered: Codable, Sendable {
    package let polarPattern: PolarPattern
    /// Null for mono patterns.
    package let inputOrientation: InputOrientation?
    package let reason: String

    package func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(polarPattern, forKey: .polarPattern)
      try container.encode(inputOrientation, forKey: .inputOrientation)
      try container.encode(reason, forKey: .reason)
    }
  }
  package struct DataSourceReport: Codable, Sendable {
    package let id: UInt32
    package let name: String
    package let location: DataSource.Location?
    package let orientation: DataSource.Orientation
    package let supportedPolarPatterns: [PolarPattern]
    package let stereoOrientations: [InputOrientation]
    package let notOffered: [NotOffered]
    package let selected: Bool
    /// Nil where another data source is selected.
    package let selectedPolarPattern: PolarPattern?
  }
  package struct Port: Codable, Sendable {
    package let portType: PortType
    package let name: String
    package let uid: String

    init(_ device: Device) {
      portType = device.portType
      name = device.title
      uid = device.uid
    }
  }
  package struct Input: Codable, Sendable {
    package let portType: PortType
    package let name: String
    package let uid: String
    /// It is in the route.
    package let active: Bool
    /// Null where there is nothing to choose.
    package let dataSources: [DataSourceReport]?
  }

  package let inputs: [Input]
}

extension Processor {
  /// What filters do not make work is known of the input in the route alone; the others are listed as their files
  /// have them.
  package var inputsReport: InputsReport {
    var devices = inputs(of: inForce)
    if !devices.contains(inForce.device) { devices.append(inForce.device) }
    return InputsReport(
      inputs: devices.map { device in
        let active = device == inForce.device
        return InputsReport.Input(
          portType: device.portType, name: device.title, uid: device.uid, active: active,
          dataSources: device.hasChoice
            ? report(
              active ? filters?.bank.offered(of: device) ?? device : device,
              selection: active ? inForce.selection : nil)
            : nil)
      })
  }

  private func report(_ device: Device, selection: Selection?) -> [InputsReport.DataSourceReport] {
    device.dataSources.map { source in
      let selected = source.name == selection?.dataSource
      return InputsReport.DataSourceReport(
        id: source.id, name: source.name, location: source.location, orientation: source.orientation,
        supportedPolarPatterns: source.polarPatterns, stereoOrientations: source.stereoOrientations,
        notOffered: selection == nil
          ? []
          : (filters?.bank.refusals ?? []).filter { $0.filterCase.dataSource == source.name }.map {
            InputsReport.NotOffered(
              polarPattern: $0.filterCase.polarPattern, inputOrientation: $0.filterCase.inputOrientation,
              reason: $0.reason)
          }, selected: selected, selectedPolarPattern: selected ? selection?.polarPattern : nil)
    }
  }
}
