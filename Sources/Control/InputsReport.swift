import Acoustics
import FilterDesign

/// What `pinna inputs` prints: the device as an input port with its data sources.
struct InputsReport: Encodable {
  /// What the device file asks for and no filters make work.
  struct NotOffered: Encodable {
    let polarPattern: PolarPattern
    /// Null for mono patterns.
    let inputOrientation: InputOrientation?
    let reason: String

    private enum Key: CodingKey { case polarPattern, inputOrientation, reason }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(polarPattern, forKey: .polarPattern)
      try container.encode(inputOrientation, forKey: .inputOrientation)
      try container.encode(reason, forKey: .reason)
    }
  }
  struct DataSourceReport: Encodable {
    let id: UInt32
    let name: String
    let location: DataSource.Location?
    let orientation: DataSource.Orientation
    let supportedPolarPatterns: [PolarPattern]
    let stereoOrientations: [InputOrientation]
    let notOffered: [NotOffered]
    let selected: Bool
    /// Nil where another data source is selected.
    let selectedPolarPattern: PolarPattern?
  }
  struct Input: Encodable {
    let portType: String
    let name: String
    let uid: String
    let dataSources: [DataSourceReport]
  }

  let inputs: [Input]

  init(_ setting: Setting, bank: FilterBank) {
    let device = bank.offered(of: setting.device)
    let sources = device.dataSources.map { source in
      let selected = source.name == setting.selection.dataSource
      return DataSourceReport(
        id: source.id, name: source.name, location: source.location, orientation: source.orientation,
        supportedPolarPatterns: source.polarPatterns, stereoOrientations: source.stereoOrientations,
        notOffered: bank.refusals.filter { $0.filterCase.dataSource == source.name }.map {
          NotOffered(
            polarPattern: $0.filterCase.polarPattern, inputOrientation: $0.filterCase.inputOrientation,
            reason: $0.reason)
        },
        selected: selected, selectedPolarPattern: selected ? setting.selection.polarPattern : nil)
    }
    inputs = [Input(portType: "builtInMic", name: device.title, uid: device.name, dataSources: sources)]
  }
}
