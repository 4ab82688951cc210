import Messages
import Presets
import Processor
import Recording

/// Lists presets, devices and takes on a worker of its own, because their disk may hang.
///
/// Thread: control thread.
final class NameReader {
  private let library: PresetLibrary
  private let worker = LazyWorker("pinna lists")

  init(_ library: PresetLibrary) { self.library = library }

  /// - Parameters:
  ///   - most: the most takes.
  ///   - folder: the takes folder; nil for the standard one.
  func names(of list: NameList, most: Int, in folder: String?) -> Job<[String]> {
    worker.job { [library] in
      switch list {
      case .presets: library.presetNames()
      case .banks: library.bankNames()
      case .devices: library.deviceNames()
      case .takes: TakeFolder(path: folder).newestNames(most)
      }
    }
  }

  /// What MIDI does, with program changes for `bank` or else for the bank of the controllers' file.
  func midiSetup(bank: String?) -> Job<MIDISetup> {
    worker.job { [library] in try MIDISetup(library, bank: bank) }
  }

  /// The path of a file in the takes folder. Fails if there is no such file.
  func path(ofTake name: String, in folder: String?) -> Job<String> {
    worker.job { try TakeFolder(path: folder).path(ofTake: name) }
  }
}
