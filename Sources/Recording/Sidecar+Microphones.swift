import FoundationEssentials
import Glibc

extension Sidecar {
  /// The take whose microphones are in the file at `path`, such as NAME-microphones.wav or NAME_2-microphones.wav with
  /// NAME.json beside it, and the frame of the take at which that file begins. Nil if there is no such sidecar.
  /// - Throws: if there is one that cannot be read.
  public static func ofMicrophones(at path: String) throws(TakeError) -> (sidecar: Sidecar, firstFrame: Int)?
  {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard let name = parts.last.map(String.init),
      let end = name.ranges(of: "-microphones.").last
    else { return nil }
    let base = String(name[..<end.lowerBound])
    let folder = parts.dropLast().map { $0 + "/" }.joined()
    for stem in [base, base.replacing(/_[0-9]+$/, with: "")] {
      let sidecarPath = folder + stem + ".json"
      guard FileManager.default.fileExists(atPath: sidecarPath) else { continue }
      let sidecar = try read(sidecarPath)
      if let file = sidecar.files.first(where: { $0.microphones == name }) { return (sidecar, file.frame) }
    }
    return nil
  }

  /// The changes of filters in the part of the take that begins with `firstFrame`, in frames from there. What was in
  /// force before has frame 0.
  public func fallbacks(from firstFrame: Int) -> [Fallback] {
    let all = fallbacks ?? []
    let before = all.last { $0.frame <= firstFrame }.map { [Fallback(frame: 0, without: $0.without)] } ?? []
    return before
      + all.filter { $0.frame > firstFrame }.map {
        Fallback(frame: $0.frame - firstFrame, without: $0.without)
      }
  }
}
