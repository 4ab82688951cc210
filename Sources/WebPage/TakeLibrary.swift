import AudioFiles
import FoundationEssentials
import Glibc
import Messages
import Recording
import Settings

/// The takes that pages list and play: regular files of the takes folder, by their names.
///
/// Thread: any that may wait for the disk.
package struct TakeLibrary: Sendable {
  private static let most = 100
  /// An absolute path; nil for the standard folder.
  let folder: String?

  private struct Take: Encodable {
    let name: String
    let state: ListedTake.State
    let seconds: Double
    let channels: Int
    let sampleRate: Int
    let started: String?
    let preset: String?
    let title: String?
    let seats: [String]
    let feeds: [String]
    let microphones: Bool
    let markers: [ListedTake.Marker]
  }

  /// What the page asks to change: a title, who sits where, or a marker at a place in seconds. What is empty is removed.
  private struct Edit: Decodable {
    let take: String
    let title: String?
    /// With semicolons.
    let seats: String?
    let marker: Double?
    let label: String?
  }

  private struct List: Encodable {
    let folder: String
    let takes: [Take]
  }

  /// The newest takes, newest first.
  var list: PageResponse {
    let folder = TakeFolder(path: folder)
    let takes = folder.takes().suffix(Self.most).reversed().map {
      Take(
        name: String($0.path[$0.path.index(after: $0.path.lastIndex(of: "/")!)...]), state: $0.state,
        seconds: $0.seconds, channels: $0.channels, sampleRate: $0.sampleRate, started: $0.started,
        preset: $0.preset, title: $0.title, seats: $0.seats, feeds: $0.feeds, microphones: $0.microphones,
        markers: $0.markers)
    }
    return .document(json(List(folder: folder.path, takes: takes)))
  }

  /// Changes the title, the seats or a marker of a take that has ended.
  /// - Parameter body: as JSON.
  func edit(_ body: [UInt8]) -> PageResponse {
    guard body.count <= PageRequest.longestBody,
      let edit = try? JSONDecoder().decode(Edit.self, from: Data(body))
    else {
      return PageResponse(Failure(.usage, "the request is not a JSON object with a take and what to change"))
    }
    var edits: [TakeEdit] = edit.title.map { [.title($0)] } ?? []
    if let marker = edit.marker { edits.append(.marker(seconds: marker, label: edit.label ?? "")) }
    do {
      if let seats = edit.seats {
        edits.append(.seats(try Seat.list(seats.split(separator: ";").map(String.init))))
      }
      let edited = try TakeFolder(path: folder).edit(edit.take, edits)
      return .document(json(["unchanged": edited.unchanged]))
    } catch { return PageResponse(Failure(error)) }
  }

  /// The media type of the take's file; nil if it is none that pages play.
  package static func type(of name: String) -> String? {
    guard TakeFolder.isFileName(name), name.first != "." else { return nil }
    guard let ending = name.split(separator: ".").dropFirst().last.map(String.init) else { return nil }
    if ending == "wav" { return "audio/wav" }
    return switch Compression(rawValue: ending) {
    case .flac: "audio/flac"
    case .opus: "audio/ogg"
    case nil: nil
    }
  }

  /// Who spoke in a take that has ended.
  func picture(of name: String, _ talkers: TalkersOfTake) -> PageResponse {
    let folder = TakeFolder(path: folder)
    let path = folder.path + "/" + name
    guard folder.takes().contains(where: { $0.path == path && ![.recording, .cut].contains($0.state) }) else {
      return .refusal(404, "there is no such take")
    }
    do { return .bytes(try talkers(path), type: "image/svg+xml") } catch {
      return PageResponse(Failure(error))
    }
  }

  /// The file called `name`, or the part of it that is asked for.
  /// - Parameter range: the Range header.
  func file(_ name: String, range: String?) -> PageResponse {
    let path = TakeFolder(path: folder).path
    guard let type = Self.type(of: name), let folder = OpenFolder(path: path) else {
      return .refusal(404, "there is no such take")
    }
    let file = folder.open(name, O_RDONLY)
    var information = stat()
    guard file >= 0, fstat(file, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
      if file >= 0 { close(file) }
      return .refusal(404, "there is no such take")
    }
    let size = Int(information.st_size)
    let accept = ("Accept-Ranges", "bytes")
    switch ByteRange(range, size: size) {
    case .whole:
      return PageResponse(
        200, type: type, body: .file(descriptor: file, offset: 0, count: size), headers: [accept])
    case .part(let first, let last):
      return PageResponse(
        206, type: type, body: .file(descriptor: file, offset: first, count: last - first + 1),
        headers: [accept, ("Content-Range", "bytes \(first)-\(last)/\(size)")])
    case .unsatisfiable:
      close(file)
      return .refusal(
        416, "the take has \(size) bytes", headers: [accept, ("Content-Range", "bytes */\(size)")])
    }
  }
}
