import FoundationEssentials
import Glibc
import Messages
import Recording
import Settings
import Text

/// The takes that `pinna render --takes` is to render, and where to.
struct RenderPlan {
  /// A feed's part of a file of microphones: a take that was split has several of these.
  struct Piece {
    let microphones: String
    /// The name of the feed if it is not the one that the microphones stand for by themselves.
    let feed: String?
    let output: String
    let mark: RenderMark
    let frames: Int

    /// Whether another file has the output's name.
    var isOccupied: Bool { mark.isMissing(in: output) }
    var isComplete: Bool { mark.isComplete(output, frames: frames) }
  }

  struct Take {
    /// The outputs' file of the take.
    let path: String
    let pieces: [Piece]
    /// What designs its filters: takes of one device and rate share them.
    let design: String
    /// Why it cannot be rendered; nil if it can.
    let obstacle: String?
  }

  private(set) var takes: [Take] = []

  /// - Parameters:
  ///   - folders: as typed. Takes in folders within them count, too.
  ///   - target: the absolute path of the folder of outputs. Each output has the take's place below its folder, and
  ///     with several folders below the last part of that one's path.
  ///   - arguments: of `pinna render` of each take.
  ///   - names: of the feeds to render, in lower case; nil for all that were recorded.
  init(_ folders: [String], into target: String, _ arguments: Arguments, feeds names: [String]?)
    throws(Failure)
  {
    let digests = RenderMark.digests(arguments)
    for (folder, place) in try Self.places(folders, into: target) {
      takes += Self.takes(in: folder, to: place, arguments, digests, names)
    }
  }

  /// All folders in which takes may be, each with the folder of its outputs.
  static func places(_ folders: [String], into target: String) throws(Failure) -> [(
    folder: String, place: String
  )] {
    var roots: [String] = []
    for typed in folders {
      let path = try OutputPath.withoutLinks(typed)
      var isFolder = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder else {
        throw Failure(.failed, "there is no folder \(typed); give a folder of takes")
      }
      if !roots.contains(path) { roots.append(path) }
    }
    var found: Set<String> = []
    return zip(roots, labels(roots)).flatMap { root, label in
      self.folders(in: root, without: target).map { ($0, target + label + $0.dropFirst(root.count)) }
    }.filter { found.insert($0.folder).inserted }
  }

  /// Where the takes of each folder go: "" for one, else as much of the end of its path as tells them apart.
  private static func labels(_ roots: [String]) -> [String] {
    guard roots.count > 1 else { return [""] }
    let parts = roots.map { $0.split(separator: "/") }
    let longest = parts.map(\.count).max() ?? 0
    for count in 1...max(1, longest) {
      let labels = parts.map { "/" + $0.suffix(count).joined(separator: "/") }
      if Set(labels).count == labels.count { return labels }
    }
    return roots
  }

  /// A folder and all folders within it, but for hidden ones, links, and the outputs'.
  private static func folders(in root: String, without target: String) -> [String] {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted()
    let inner = names.filter { !$0.hasPrefix(".") }.map { "\(root == "/" ? "" : root)/\($0)" }.filter {
      path in
      var status = stat()
      return path != target && lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
    return [root] + inner.flatMap { folders(in: $0, without: target) }
  }

  /// The feeds of a take that are rendered: all that were recorded, or nil alone where the options say what is rendered.
  private static func feeds(of sidecar: Sidecar, _ arguments: Arguments, _ names: [String]?) -> [String?] {
    let isSaid = ["--feed", "--preset", "--device"].contains(where: arguments.has)
    let all = (isSaid || sidecar.channels > 0 ? [nil] : []) + (isSaid ? [] : sidecar.feeds ?? []).map(\.name)
    return all.filter { names?.contains(($0 ?? FeedSetting.main).lowercased()) ?? true }
  }

  private static func takes(
    in folder: String, to place: String, _ arguments: Arguments, _ digests: [String], _ names: [String]?
  ) -> [Take] {
    func unusable(_ path: String, _ obstacle: String) -> Take {
      Take(path: path, pieces: [], design: "", obstacle: obstacle)
    }
    var takes: [Take] = []
    let ending = (try? arguments.soundEnding()) ?? "wav"
    let source = TakeFolder(path: folder)
    let ended = source.endedTakes { stem, sentence in
      takes.append(unusable("\(folder)/\(stem).wav", sentence))
    }
    for take in ended {
      let sidecar = take.sidecar
      let pieces = sidecar.files.flatMap { files in
        files.microphones.map { name in
          Self.feeds(of: sidecar, arguments, names).map { feed in
            Piece(
              microphones: "\(folder)/\(name)", feed: feed,
              output:
                "\(place)/\(name.replacing(/-microphones\.\w+$/, with: feed.map { "-\($0)" } ?? "")).\(ending)",
              mark: RenderMark(of: "\(folder)/\(name)", sidecar, arguments.with(feed: feed), digests),
              frames: files.frames)
          }
        } ?? []
      }
      let isWhole = sidecar.files.allSatisfy { $0.microphones != nil }
      takes.append(
        Take(
          path: "\(folder)/\(sidecar.files[0].first)", pieces: isWhole ? pieces : [],
          design: "\(sidecar.setup.device) \(sidecar.sampleRate) \(sidecar.setup.array.hashValue)",
          obstacle: isWhole
            ? pieces.isEmpty ? "it has none of these feeds" : sidecar.fault(ofMicrophonesIn: folder + "/")
            : "it has no microphones to render: it was recorded without --raw"))
    }
    takes += unfinished(in: source).map { unusable($0, $1) }
    return takes.sorted { $0.path < $1.path }
  }

  /// The takes of a folder that have not ended, and why nothing can be done with them.
  static func unfinished(in folder: TakeFolder) -> [(path: String, fault: String)] {
    folder.takes().filter { [.recording, .cut].contains($0.state) }.map {
      (
        $0.path,
        $0.state == .recording
          ? "it is being recorded; repeat this when it has ended"
          : "it was cut off; finish it with: pinna takes repair --dir \(Shell.word(folder.path))"
      )
    }
  }
}

extension Arguments {
  /// The same with a feed of the take; nil for as they are.
  fileprivate func with(feed: String?) -> Arguments {
    var arguments = self
    if let feed { arguments.options["--feed"] = [feed] }
    return arguments
  }
}
