import Acoustics
import FilterBanks
import FilterDesign

/// The answer to `inputs`: the available inputs with their data sources. A value; any thread.
package struct InputsReport: Codable, Sendable {
  /// A case for which no filters meet the requirements, or whose filters are weak.
  package struct Remark: Codable, Sendable {
    package let polarPattern: PolarPattern
    /// Null for mono patterns.
    package let inputOrientation: InputOrientation?
    package let reason: String

    init(_ remark: CaseRemark) {
      polarPattern = remark.filterCase.polarPattern
      inputOrientation = remark.filterCase.inputOrientation
      reason = remark.text
    }

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
    package let notOffered: [Remark]
    package let weak: [Remark]
    package let selected: Bool
    /// Nil if another data source is selected.
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
    /// Whether the input is in the route.
    package let active: Bool
    /// Null if the input offers no choice.
    package let dataSources: [DataSourceReport]?
  }

  package let inputs: [Input]
}

extension Processor {
  /// The answer to `inputs`. Only the filters of the input in the route are known; other inputs are listed as in their
  /// device files.
  ///
  /// Thread: control thread.
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
        notOffered: remarks(filters?.bank.refusals, source, isActive: selection != nil),
        weak: remarks(filters?.bank.weaknesses, source, isActive: selection != nil),
        selected: selected, selectedPolarPattern: selected ? selection?.polarPattern : nil)
    }
  }

  /// Only the filters of the input in the route are known.
  private func remarks(
    _ remarks: [CaseRemark]?, _ source: DataSource, isActive: Bool
  ) -> [InputsReport.Remark] {
    isActive
      ? (remarks ?? []).filter { $0.filterCase.dataSource == source.name }.map(InputsReport.Remark.init) : []
  }
}
