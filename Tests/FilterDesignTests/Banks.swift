import Acoustics
import FilterBanks
import FilterDesign
import Numerics
import Presets
import TestSupport

/// Filter banks that several tests share, designed once. `phone5` is in the free field, as in the goldens.
enum Banks {
  static let phone5 = Designed(TestDevices.phone5(body: .free))
  /// phone5 on its body.
  static let phone5Box = Designed(TestDevices.phone5())
  static let ring7 = Designed(TestDevices.ring7())
  static let linear8 = Designed(TestDevices.linear8())
  static let pair = Designed(TestDevices.pair())
  static let phone3 = Designed(shipped("phone3"))
  static let phone4 = Designed(shipped("phone4"))
  static let glasses8 = Designed(shipped("glasses8"))

  static func named(_ name: String) -> Designed {
    ["phone5": phone5, "ring7": ring7, "linear8": linear8, "pair": pair][name]!
  }

  private static func shipped(_ name: String) -> Device {
    try! PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(named: name)
  }

  struct Designed: Sendable {
    let device: Device
    let bank: FilterBank

    init(_ device: Device, sampleRate: Int = 48_000) {
      useSingleThreadedBLAS()
      self.device = device
      bank = try! FilterBank.design(device: device, sampleRate: sampleRate)
    }

    func coefficients(
      _ source: String, _ pattern: PolarPattern, _ orientation: InputOrientation? = nil
    ) -> FilterCoefficients {
      bank.coefficients(
        for: FilterCase(dataSource: source, polarPattern: pattern, inputOrientation: orientation))!
    }
  }
}
