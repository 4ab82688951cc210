import Acoustics
import AudioFiles
import Messages
import Settings

/// Options that say how B-format is written.
extension Verb {
  static let normalisationOption = Option(
    "--normalisation", "WORD",
    "of B-format: sn3d (AmbiX, the default), n3d, or fuma, which is that of .amb files")
}

extension Arguments {
  /// How B-format of an order is written to a file of this name: FuMa to .amb, and what --normalisation says to others.
  /// - Throws: a usage failure for what such a file cannot hold.
  func ambisonicFormat(order: Int, path: String) throws(Failure) -> AmbisonicFormat {
    let isFuMa = path.lowercased().hasSuffix(AmbisonicFormat.fumaEnding)
    let words = AmbisonicNormalisation.allCases.map(\.rawValue)
    var normalisation = isFuMa ? AmbisonicNormalisation.fuma : .sn3d
    if let word = self["--normalisation"] {
      guard let given = AmbisonicNormalisation(rawValue: word.lowercased()) else {
        throw Failure(
          .usage, "unknown normalisation \(word.quoted); use one of: \(words.joined(separator: ", "))")
      }
      normalisation = given
    }
    guard isFuMa == (normalisation == .fuma) else {
      throw Failure(
        .usage,
        isFuMa
          ? "a file .amb has the normalisation fuma; leave out --normalisation, or give a name that ends in .caf or .wav"
          : "the normalisation fuma is that of .amb files; give a name that ends in .amb, or leave out --normalisation"
      )
    }
    guard !isFuMa || AmbisonicFormat.fumaOrders.contains(order) else {
      throw Failure(
        .usage,
        "a file .amb holds orders 1 to \(AmbisonicFormat.fumaOrders.upperBound), not \(order); give a name that ends in .caf or .wav"
      )
    }
    return AmbisonicFormat(order: order, normalisation: normalisation)
  }
}

extension AmbisonicFormat {
  /// For the answer of `render`.
  func json(_ selection: Selection) -> JSONObject {
    [
      "normalisation": normalisation.rawValue, "channelOrder": channelOrder,
      "dataSource": selection.dataSource, "inputOrientation": selection.inputOrientation.rawValue,
    ]
  }

  /// "ACN order, SN3D"
  var phrase: String {
    switch normalisation {
    case .sn3d: "ACN order, SN3D"
    case .n3d: "ACN order, N3D"
    case .fuma: "FuMa order and normalisation"
    }
  }
}
