import Acoustics
import Figures

extension Requirement {
  /// The rows of section 6 of the acoustics page, the project's own goals.
  package static let all: [Requirement] =
    mono("cardioid, front/back pair of a phone", "phone3", "Front", .cardioid) { row in
      [
        row(.directivityIndex, 250...1000, .atLeast(4.5), nil),
        row(.directivityIndex, 2000...4000, .atLeast(3.5), nil),
        row(.frontBackOctaves, 250...1000, .atLeast(20), nil),
        row(.frontBackOctaves, 2000...12_000, .atLeast(14), .atLeast(16)),
        row(.onAxis, 250...12_000, .within(-0.5...0.5), nil),
        row(.patternError, 250...500, nil, .atMost(-38)),
      ]
    }
    + mono("subcardioid, same pair", "phone3", "Back", .subcardioid) { row in
      [
        row(.directivityIndex, 125...2000, .within(2.6...3.0), nil),
        row(.directivityIndex, 4000...4000, .atLeast(2.2), nil),
        row(.directivityIndex, 8000...8000, nil, .atLeast(2.2)),
      ]
    }
    + mono("phone5 cardioid", "phone5", "Front", .cardioid) { row in
      [
        row(.directivityIndex, 250...4000, .atLeast(4.2), .atLeast(4.6)),
        row(.frontBackOctaves, 250...8000, .atLeast(16), .atLeast(20)),
      ]
    }
    + mono("phone5 cardioid", "phone5", "Back", .cardioid) { row in
      [
        row(.directivityIndex, 250...2000, .atLeast(4.2), .atLeast(4.6)),
        row(.directivityIndex, 4000...4000, .atLeast(3.5), .atLeast(4.6)),
        row(.frontBackOctaves, 250...2000, .atLeast(15), .atLeast(20)),
        row(.frontBackOctaves, 4000...12_000, .atLeast(11), .atLeast(20)),
      ]
    }
    + ["Front", "Back"].flatMap { source in
      mono("phone5 subcardioid", "phone5", source, .subcardioid) { row in
        [row(.directivityIndex, 125...8000, .within(2.4...3.2), nil)]
      }
    }
    + mono("ring7 cardioid", "ring7", nil, .cardioid) { row in
      [
        row(.directivityIndex, 125...1000, .within(4.6...5.0), nil),
        row(.directivityIndex, 2000...2000, .atLeast(4.3), nil),
        row(.directivityIndex, 4000...4000, nil, .atLeast(3)),
        row(.patternError, 125...2000, .atMost(-25), nil),
      ]
    }
    + stereo("phone5 stereo", "phone5", orientations: InputOrientation.allCases) { row in
      [
        row(.number(.separation), .atLeast(8.5), nil), row(.number(.frontBack), .within(6...8.1), nil),
        row(.number(.levelDifferenceErrorHigh), .atMost(5.7), nil),
        row(.octaves(.octaveError, 250...2000), .atMost(3.1), nil),
        row(.number(.heardBehind), .atMost(28), .atMost(25)),
        row(.number(.timeDifferenceJump), .atMost(150), nil),
      ]
    }
    + stereo("phone5 stereo, portrait", "phone5", orientations: upright) { row in
      [
        row(.number(.timeDifferenceError), .atMost(170), .atMost(150)),
        row(.number(.levelDifferenceErrorHigh), nil, .atMost(5)),
      ]
    }
    + stereo("phone5 stereo, landscape", "phone5", orientations: sideways) { row in
      [
        row(.number(.timeDifferenceError), .atMost(70), nil),
        row(.number(.levelDifferenceErrorHigh), nil, .atMost(4)),
      ]
    }
    + stereo("phone4 stereo", "phone4", orientations: InputOrientation.allCases) { row in
      [
        row(.number(.frontBack), .atLeast(5), nil), row(.number(.heardBehind), .atMost(28), .atMost(25)),
        row(.number(.timeDifferenceJump), .atMost(150), nil),
      ]
    }
    + stereo("phone4 stereo, portrait", "phone4", orientations: upright) { row in
      [row(.number(.separation), .atLeast(7.5), nil)]
    }
    + stereo("phone4 stereo, landscape", "phone4", orientations: sideways) { row in
      [row(.number(.separation), .atLeast(3.5), .atLeast(5))]
    }
    + stereo("ring7 stereo, portrait", "ring7", orientations: [.portrait]) { row in
      [
        row(.number(.separation), .atLeast(8), nil), row(.number(.frontBack), .atLeast(5.5), nil),
        row(.number(.levelDifferenceErrorHigh), .atMost(4.8), .atMost(3.5)),
        row(.number(.timeDifferenceError), .atMost(80), .atMost(50)),
      ]
    }
    + stereo("glasses8 stereo", "glasses8", orientations: [.portrait]) { row in
      [
        row(.number(.frontBack), .atLeast(6), nil),
        row(.number(.levelDifferenceErrorHigh), .atMost(3.6), .atMost(2.5)),
        row(.number(.timeDifferenceError), .atMost(35), .atMost(20)),
      ]
    }
    + ["phone4", "phone5", "ring7", "glasses8", "linear8"].flatMap { preset in
      stereo("all stereo filter sets", preset, orientations: InputOrientation.allCases) { row in
        [row(.number(.noiseGain), .atMost(10.5), nil)]
      }
    }

  private static let upright: [InputOrientation] = [.portrait, .portraitUpsideDown]
  private static let sideways: [InputOrientation] = [.landscapeLeft, .landscapeRight]

  private typealias MonoRow = (SeriesFigure, ClosedRange<Int>, Bound?, Bound?) -> Requirement
  private typealias StereoRow = (Quantity, Bound?, Bound?) -> Requirement

  /// - Parameter source: nil stands for all data sources.
  private static func mono(
    _ item: String, _ preset: String, _ source: String?, _ pattern: PolarPattern,
    rows: (_ row: MonoRow) -> [Requirement]
  ) -> [Requirement] {
    rows { figure, octaves, must, aim in
      Requirement(
        item: item + (source.map { ", \($0)" } ?? ""), preset: preset, quantity: .octaves(figure, octaves),
        must: must, aim: aim
      ) { $0.polarPattern == pattern && (source == nil || $0.dataSource == source) }
    }
  }

  private static func stereo(
    _ item: String, _ preset: String, orientations: [InputOrientation],
    rows: (_ row: StereoRow) -> [Requirement]
  ) -> [Requirement] {
    rows { quantity, must, aim in
      Requirement(item: item, preset: preset, quantity: quantity, must: must, aim: aim) {
        $0.inputOrientation.map(orientations.contains) ?? false
      }
    }
  }
}
