import AudioFiles

extension TakeFolder {
  /// A take that ended: the common prefix of its files' names, and its sidecar.
  public struct EndedTake {
    public let stem: String
    public let sidecar: Sidecar
  }

  /// The takes of this folder that have ended, by name, also those whose outputs are not there any more.
  /// - Parameter unreadable: called with the take's stem and one sentence for each take whose sidecar cannot be read.
  public func endedTakes(unreadable: (_ stem: String, _ sentence: String) -> Void) -> [EndedTake] {
    guard let folder = OpenFolder(path: path) else { return [] }
    let names = folder.names
    return names.filter { $0.hasSuffix(".json") }.compactMap { name in
      let stem = Self.stem(of: name)
      do throws(TakeError) {
        let sidecar = try readSidecar(name, in: folder)
        return EndedTake(stem: stem, sidecar: sidecar)
      } catch {
        // Not every JSON file is a sidecar.
        let isTake =
          sound(ofSidecar: name, among: names) != nil
          || names.contains { $0.hasPrefix(stem + "-microphones.") }
        if isTake { unreadable(stem, error.description) }
        return nil
      }
    }
  }
}
