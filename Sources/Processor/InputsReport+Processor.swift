import Acoustics
import FilterBanks
import FilterDesign
import Messages

extension InputsReport.Remark {
  init(_ remark: CaseRemark) {
    self.init()
    polarPattern = remark.filterCase.polarPattern
    inputOrientation = remark.filterCase.inputOrientation
    reason = remark.text
  }
}

extension InputsReport.Port {
  init(_ device: Device) {
    self.init()
    portType = device.portType
    name = device.title
    uid = device.uid
  }
}

extension Processor {
  /// The answer to `inputs`. Only the filters of the input in the route are known; other inputs are listed as in their
  /// device files.
  package var inputsReport: InputsReport {
    var devices = inputs(of: inForce)
    if !devices.contains(inForce.device) { devices.append(inForce.device) }
    var report = InputsReport()
    report.inputs = devices.map { device in
      var input = InputsReport.Input()
      (input.portType, input.name, input.uid) = (device.portType, device.title, device.uid)
      input.active = device == inForce.device
      guard device.hasChoice else { return input }
      input.dataSources =
        input.active
        ? dataSources(filters?.bank.offered(of: device) ?? device, selection: inForce.main.selection)
        : dataSources(device, selection: nil)
      return input
    }
    return report
  }

  /// - Parameter selection: the selection in force; nil for inputs that are not in the route.
  private func dataSources(_ device: Device, selection: Selection?) -> [InputsReport.DataSourceReport] {
    device.dataSources.map { source in
      var report = InputsReport.DataSourceReport()
      report.id = source.id
      report.name = source.name
      report.location = source.location
      report.orientation = source.orientation
      report.supportedPolarPatterns = source.polarPatterns
      report.stereoOrientations = source.stereoOrientations
      report.notOffered = remarks(filters?.bank.refusals, source, isActive: selection != nil)
      report.weak = remarks(filters?.bank.weaknesses, source, isActive: selection != nil)
      report.selected = source.name == selection?.dataSource
      report.selectedPolarPattern = report.selected ? selection?.polarPattern : nil
      return report
    }
  }

  private func remarks(
    _ remarks: [CaseRemark]?, _ source: DataSource, isActive: Bool
  ) -> [InputsReport.Remark] {
    isActive
      ? (remarks ?? []).filter { $0.filterCase.dataSource == source.name }.map(InputsReport.Remark.init) : []
  }
}
