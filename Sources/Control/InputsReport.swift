import Acoustics

/// What `pinna inputs` prints: the device as an input port with its data sources.
struct InputsReport: Encodable {
  struct DataSourceReport: Encodable {
    let id: UInt32
    let name: String
    let location: DataSource.Location?
    let orientation: DataSource.Orientation
    let supportedPolarPatterns: [PolarPattern]
    let stereoOrientations: [InputOrientation]
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

  init(_ setting: Setting) {
    let device = setting.device
    let sources = device.dataSources.map { source in
      let selected = source.name == setting.selection.dataSource
      return DataSourceReport(
        id: source.id, name: source.name, location: source.location, orientation: source.orientation,
        supportedPolarPatterns: source.polarPatterns, stereoOrientations: source.stereoOrientations,
        selected: selected, selectedPolarPattern: selected ? setting.selection.polarPattern : nil)
    }
    inputs = [Input(portType: "builtInMic", name: device.title, uid: device.name, dataSources: sources)]
  }
}
