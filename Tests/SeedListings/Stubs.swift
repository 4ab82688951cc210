// Dependencies of the seeds' listings that they do not show: UIKit, NSLog, and the sample's own types.

import PinnaSession

/// Prints to standard output, with lists formatted as in Objective-C.
// swift-format-ignore: AlwaysUseLowerCamelCase
func NSLog(_ format: String, _ arguments: Any...) {
  var text = ""
  var rest = arguments[...]
  var characters = format[...]
  while let character = characters.popFirst() {
    guard character == "%", let kind = characters.popFirst() else {
      text.append(character)
      continue
    }
    guard ["@", "u"].contains(kind), let argument = rest.popFirst() else { fatalError("%\(kind)") }
    text += layOut(argument)
  }
  print(text)
}

private func layOut(_ argument: Any) -> String {
  guard let list = argument as? [DataSourceDescription] else { return "\(argument)" }
  return "(\n" + list.map { "    \"\($0)\"" }.joined(separator: ",\n") + "\n)"
}

/// In the seed's Swift a polar pattern was its name.
func ?? (pattern: PolarPattern?, none: String) -> String { pattern?.title ?? none }

/// The sample's picker: a name and the data source that it stands for.
struct RecordingOption {
  let name: String
  let dataSourceName: String
}

/// The sample's type for its window's orientation.
enum Orientation: CaseIterable {
  case portrait, portraitUpsideDown, landscapeLeft, landscapeRight

  init(_ window: Orientation) { self = window }

  var inputOrientation: InputOrientation {
    switch self {
    case .portrait: .portrait
    case .portraitUpsideDown: .portraitUpsideDown
    case .landscapeLeft: .landscapeLeft
    case .landscapeRight: .landscapeRight
    }
  }
}

/// The sample's picture: the edges of left and right for a data source's orientation and the session's.
enum StereoLayout: CustomStringConvertible {
  case none
  case edges(left: DeviceEdge, right: DeviceEdge)

  init(orientation: PinnaSession.Orientation, stereoOrientation: InputOrientation) {
    guard let layout = AudioSession.sharedInstance().stereoLayout, [.front, .back].contains(orientation)
    else {
      self = .none
      return
    }
    self = .edges(left: layout.left, right: layout.right)
  }

  var description: String {
    switch self {
    case .none: "none"
    case .edges(let left, let right): "left \(left.rawValue), right \(right.rawValue)"
    }
  }
}

// MARK: - UIKit

class UITraitCollection {}

class UIViewController {
  func traitCollectionDidChange(_ previousTraitCollection: UITraitCollection?) {}
}

class UISegmentedControl {
  var selectedSegmentIndex = 0
}

class StereoLayoutView {
  var layout = StereoLayout.none
}
