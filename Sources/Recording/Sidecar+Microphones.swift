import AudioFiles
import FoundationEssentials
import Glibc
import Settings

extension Sidecar {
  /// The take that a file belongs to, by its name: a feed's, the microphones' or the sidecar itself. Nil if there is no
  /// such sidecar beside it, or the file is none of its take. The sidecar has the present names of a renamed take.
  /// - Returns: the index of the file's segment, and the name of its feed, if it is of another than main.
  /// - Throws: if the sidecar cannot be read.
  public static func ofFile(at path: String) throws(TakeError) -> (
    sidecar: Sidecar, stem: String, segment: Int, feed: String?
  )? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let name = parts.last.map(String.init) ?? ""
    let folder = parts.dropLast().map { $0 + "/" }.joined()
    guard let ending = name.lastIndex(of: ".") else { return nil }
    let base = String(name[..<ending])
    func isThere(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder + name) }
    if name[ending...] == ".json" {
      guard isThere(name) else { return nil }
      return (try read(path).renamed(to: base, isThere: isThere), base, 0, nil)
    }
    let stems = [base, base.replacing(/-[A-Za-z][A-Za-z0-9]*$/, with: "")].flatMap {
      [$0, $0.replacing(/_[0-9]+$/, with: "")]
    }
    for stem in stems where isThere(stem + ".json") {
      let listed = try read(folder + stem + ".json")
      for sidecar in [listed.renamed(to: stem, isThere: isThere), listed] {
        guard let segment = sidecar.files.firstIndex(where: { $0.names.contains(name) }) else { continue }
        return (sidecar, stem, segment, sidecar.files[segment].feeds?.first { $0.value == name }?.key)
      }
    }
    return nil
  }

  /// The sound whose sidecar would have this path: NAME.wav beside NAME.json. Nil if there is none.
  public static func sound(besides path: String) -> String? {
    guard path.lowercased().hasSuffix(".json") else { return nil }
    return TakeFormat.endings.map { "\(path.dropLast(5)).\($0)" }.first { access($0, F_OK) == 0 }
  }

  /// What a file of the take says beside its sound, but for when it was recorded.
  func labels(of name: String, _ files: Files) -> SoundLabels {
    let feed = allFeeds.first { (files.feeds?[$0.name] ?? files.outputs) == name }
    let tracks = feed.map { FeedSetting.trackNames($0.channels, of: $0.name) }
    return SoundLabels(title: title, trackNames: tracks ?? setup.microphones, cues: cues(in: files))
  }

  /// How the first file of its microphones that is there differs from what was recorded, as a sentence: it was cut, or is
  /// another one. Nil if none does.
  /// - Parameters:
  ///   - folder: of the take's files, ending in a slash, or empty for the working folder.
  ///   - last: the last of them that matters, with those that end less than 10 s before it; nil for all.
  ///   - comparesSound: whether parts of the sound are read, and not the header alone.
  public func fault(
    ofMicrophonesIn folder: String, upTo last: Files? = nil, comparingSound comparesSound: Bool = true
  ) -> String? {
    let first = last.map { $0.frame - 10 * sampleRate } ?? .min
    for own in files where own.frame + own.frames >= first && own.frame <= last?.frame ?? .max {
      guard let name = own.microphones, access(folder + name, F_OK) == 0 else { continue }
      if let fault = fault(of: folder + name, in: own, channels: setup.microphones.count) { return fault }
      guard comparesSound, let digest = own.microphonesDigest else { continue }
      guard SoundDigest(of: folder + name)?.text == digest else {
        return "\(folder)\(name) is not the sound that its take recorded"
      }
    }
    return nil
  }

  /// The same for one of its files, from its header and, of a compressed file, its last frame.
  func fault(of path: String, in own: Files, channels: Int) -> String? {
    let reader: AudioFileReader
    do throws(AudioFileError) { reader = try AudioFileReader(path: path) } catch { return error.description }
    guard reader.channels == channels, reader.sampleRate == sampleRate else {
      return
        "\(path) has \(reader.channels) channels at \(reader.sampleRate) Hz, and its take has \(channels) at \(sampleRate) Hz"
    }
    if reader.lacksEnd() {
      return "\(path) ends before its \(own.frames) frames; replace it with a whole copy"
    }
    guard let frames = reader.frames, frames != own.frames else { return nil }
    // What a crash left of several files has the length of the shortest.
    if frames > own.frames, state == .repaired { return nil }
    return "\(path) has \(frames) frames, and its take has \(own.frames) there"
  }

  /// The last frames of the microphones before `frame` of the take, from the files that hold them.
  /// - Parameters:
  ///   - count: how many; fewer where the take begins.
  ///   - folder: of the take's files, ending in a slash, or empty for the working folder.
  /// - Returns: shape `[microphone][frame]`
  /// - Throws: if a file is missing, or is not as this sidecar says.
  public func microphones(before frame: Int, count: Int, in folder: String) throws(TakeError) -> [[Float]] {
    var channels = [[Float]](repeating: [], count: setup.microphones.count)
    let first = max(0, frame - count)
    for piece in files where piece.frame < frame && piece.frame + piece.frames > first {
      guard let name = piece.microphones else {
        throw TakeError("the take has no file of the microphones before frame \(frame)")
      }
      let path = folder + name
      let wanted = max(0, first - piece.frame)..<min(piece.frames, frame - piece.frame)
      do throws(AudioFileError) {
        let reader = try AudioFileReader(path: path)
        guard reader.channels == channels.count else {
          throw AudioFileError("\(path) has \(reader.channels) channels, not those of its take")
        }
        try reader.seek(toFrame: wanted.lowerBound)
        let block = try reader.channels(frames: wanted.count)
        guard block[0].count == wanted.count else {
          throw AudioFileError("\(path) is shorter than its take's sidecar says")
        }
        for c in channels.indices { channels[c] += block[c] }
      } catch { throw TakeError(error.description) }
    }
    return channels
  }

  /// Those that the take has sound of: feeds play on where the disk is full.
  package var heardFallbacks: [Fallback] { (fallbacks ?? []).filter { $0.frame <= frames } }

  /// The changes of a feed's filters in the part of the take that begins with `firstFrame`, in frames from there. What was
  /// in force before has frame 0.
  public func fallbacks(from firstFrame: Int, of feed: String = FeedSetting.main) -> [Fallback] {
    let all = heardFallbacks.filter { $0.feed == feed }
    let before =
      all.last { $0.frame <= firstFrame }.map { [Fallback(frame: 0, without: $0.without, feed: $0.feed)] }
      ?? []
    return before
      + all.filter { $0.frame > firstFrame }.map {
        Fallback(frame: $0.frame - firstFrame, without: $0.without, feed: $0.feed)
      }
  }
}
