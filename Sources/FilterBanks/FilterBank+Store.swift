import Acoustics
import AudioFiles
import FilterDesign
import FoundationEssentials
import Glibc
import Numerics

/// Stored sets: all taps of a bank in `NAME.wav`, all else in `NAME.json`, with a checksum over both. Those that ship
/// are stored like those in the cache.
extension FilterBank {
  /// How long the files of a design that another process writes at this moment may take.
  private static let unfinishedTime = 600

  /// Of all sets in the cache, in bytes. One of a phone with five microphones takes 0.2 MB.
  package static let sizeLimit = 256 << 20

  /// More taps than any design has, in one filter and in all: bounds what is read of files that claim more.
  private static let (longestFilter, mostTaps) = (1 << 16, 1 << 26)

  /// Writes under temporary names and renames: other processes read both files whole, and the checksum tells them where
  /// only one is in place. The WAV file has one frame per tap, one case after another, and two outputs beside each other:
  /// channel = output × microphone count + microphone. The next pair of outputs of B-format follows below, the last one
  /// with zeros beside it. Removes what interrupted designs left, and beyond the limit the sets that were not used for
  /// longest.
  package func store(in folder: String, as name: String, sizeLimit: Int = FilterBank.sizeLimit) throws {
    let files = FileManager.default
    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
    Self.removeUnfinished(in: folder)
    let scratch = "\(folder)/\(name).\(UUID().uuidString)"
    let (sound, text) = ("\(scratch).wav.part", "\(scratch).json.part")
    defer {
      unlink(sound)
      unlink(text)
    }
    var description = FilterDescription(
      self, cases: cases.map { FilterDescription.Case($0, delayFrames: delayFrames) })
    description.taps = tapCount
    let channels = (0..<2 * microphones.count).map { channel in
      cases.flatMap { coefficients in
        let taps = coefficients.taps
        return stride(from: channel / microphones.count, to: (taps.outputs + 1) / 2 * 2, by: 2).flatMap {
          $0 < taps.outputs
            ? Array(taps[$0, channel % microphones.count]) : [Float](repeating: 0, count: tapCount)
        }
      }
    }
    let clip = AudioClip(sampleRate: sampleRate, channels: channels)
    if !cases.isEmpty { try clip.write(wav: sound) }
    description.checksum = try description.checksum(of: clip.interleaved)
    try description.write(text)
    for (scratch, kind) in [(sound, "wav"), (text, "json")] where kind == "json" || !cases.isEmpty {
      guard rename(scratch, "\(folder)/\(name).\(kind)") == 0 else {
        throw DesignError("cannot write \(folder)/\(name).\(kind): \(String(cString: strerror(errno)))")
      }
    }
    StoredFiles.removeExcess(in: folder, endings: [".json", ".wav"], limit: sizeLimit)
  }

  /// Reads a set that `store` wrote.
  /// - Parameter path: of its files, without their extensions.
  /// - Throws: an error that names the file, if one is missing, malformed, altered, or does not belong to the other.
  package init(storedAt path: String) throws {
    let contents = try FilterDescription(path: path + ".json")
    let count = contents.microphones.count
    let length = contents.taps ?? 0
    let outputs = contents.cases.map(\.filterCase.outputsOfFilters)
    let pairs = outputs.map { ($0 + 1) / 2 }.reduce(0, +)
    var samples: [Float] = []
    if !contents.cases.isEmpty {
      let reader = try AudioFileReader(path: path + ".wav")
      guard (1...Self.longestFilter).contains(length), (0..<length).contains(contents.delayFrames),
        contents.cases.allSatisfy({ $0.delayFrames == contents.delayFrames }),
        reader.sampleRate == contents.sampleRate, reader.channels == 2 * count,
        let frames = reader.frames, frames == pairs * length,
        frames * reader.channels <= Self.mostTaps, reader.headerRemark == nil
      else {
        throw DesignError("\(path).wav does not have the channels, rate or length that \(path).json says")
      }
      samples = try reader.read(frames: frames)
    }
    guard samples.count == 2 * count * pairs * length, samples.allSatisfy(\.isFinite),
      contents.checksum == (try contents.checksum(of: samples))
    else {
      throw DesignError("\(path).json and \(path).wav are not as they were written: their checksum differs")
    }
    var first = 0
    let taps = outputs.map { outputs in
      var taps = Taps<Float>(outputs: outputs, microphones: count, length: length)
      for output in 0..<outputs {
        for microphone in 0..<count {
          let channel = output % 2 * count + microphone
          taps[output, microphone] = ArraySlice(
            (0..<length).map { samples[(first + output / 2 * length + $0) * 2 * count + channel] })
        }
      }
      first += (outputs + 1) / 2 * length
      return taps
    }
    self = contents.bank(taps, device: "")
  }

  /// Removes files that were not finished ten minutes after they were begun, locks that nobody holds, and folders: earlier
  /// versions stored sets in them.
  private static func removeUnfinished(in folder: String) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      var status = stat()
      let path = "\(folder)/\(name)"
      guard lstat(path, &status) == 0 else { continue }
      let isOld = time(nil) - status.st_mtim.tv_sec > unfinishedTime
      if status.st_mode & S_IFMT == S_IFDIR || (name.hasSuffix(".part") && isOld) {
        try? FileManager.default.removeItem(atPath: path)
      } else if name.hasSuffix(".lock") {
        DesignLock.removeIfFree(path)
      }
    }
  }
}

extension FilterCase {
  /// The number of outputs that filters of this case have: mono patterns have the same on two.
  var outputsOfFilters: Int { max(2, polarPattern.outputs) }
}
