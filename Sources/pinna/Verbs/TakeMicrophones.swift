import Acoustics
import AudioFiles
import Glibc
import Messages
import Presets
import Processor
import Realtime
import Recording
import Rendering
import Settings

/// The take that a file belongs to, by the sidecar beside it: whose take it is, its microphones, what they heard before
/// the file's first frame, and the filters that replaced those of all microphones while some failed.
struct TakeMicrophones {
  /// The file of its microphones.
  let path: String
  let sidecar: Sidecar
  /// The feed that was recorded in the given file; nil for main and for the microphones.
  let feed: String?
  let files: Sidecar.Files
  /// The frame of the take at which the file begins.
  private var firstFrame: Int { files.frame }
  private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "" }

  /// Nil for a file that is not of a take, or of one without microphones. A sidecar that cannot be read is reported.
  init?(_ path: String) {
    do throws(TakeError) {
      guard let found = try Sidecar.ofFile(at: path),
        let name = found.sidecar.files[found.segment].microphones
      else { return nil }
      (sidecar, feed, files) = (found.sidecar, found.feed, found.sidecar.files[found.segment])
      self.path = (path.lastIndex(of: "/").map { String(path[...$0]) } ?? "") + name
    } catch {
      Tool.complain(
        "\(error.description); the take's array and its missing microphones are unknown, so fallback filters are not "
          + "repeated")
      return nil
    }
  }

  /// The feed that the given file stands for: its own; for the microphones and the sidecar main, or the take's only feed.
  /// Nil for main.
  /// - Throws: if main was not recorded, and several feeds were.
  func feedOfFile() throws(Failure) -> String? {
    let recorded = sidecar.feedNames
    guard feed == nil, !recorded.contains(nil) else { return feed }
    guard recorded.count > 1 else { return recorded.first ?? nil }
    throw Failure(
      .usage,
      "the take of \(path) has the feeds \(recorded.compactMap(\.self).joined(separator: ", ")), and main was not "
        + "recorded; name one with --feed, or render all with --into DIR")
  }

  /// The feeds that `--feeds` names, as `record start` has it: all, or names with commas. Nil for main.
  /// - Returns: nil if it is a file's name.
  func feeds(named text: String) throws -> [String?]? {
    let recorded = sidecar.feedNames
    if text.lowercased() == "all" { return recorded }
    let chosen = text.listed.map { name in
      recorded.first { ($0 ?? FeedSetting.main).lowercased() == name.lowercased() }
    }
    if chosen.allSatisfy({ $0 != nil }) { return recorded.filter { chosen.contains($0) } }
    guard access(text, F_OK) != 0 else { return nil }
    let unknown = zip(text.listed, chosen).first { $0.1 == nil }?.0 ?? text
    throw UnknownWord(kind: "feed", word: unknown, choices: recorded.map { $0 ?? FeedSetting.main } + ["all"])
  }

  /// The mark of what these microphones are rendered to.
  func mark(_ arguments: Arguments) -> RenderMark { RenderMark(of: path, sidecar, arguments) }

  /// What a file says that is rendered of these microphones: when they were recorded, the take's title and markers.
  func labels(_ arguments: Arguments, _ trackNames: [String]) -> SoundLabels {
    let own = (try? AudioFileReader(path: path))?.broadcast.flatMap { $0.date.isEmpty ? nil : $0 }
    let broadcast = own ?? sidecar.broadcast(of: files)
    return SoundLabels(
      broadcast: mark(arguments).broadcast(of: broadcast), title: sidecar.title, trackNames: trackNames,
      cues: sidecar.cues(in: files))
  }

  /// What was set when the take was recorded.
  /// - Parameters:
  ///   - feed: its name; nil for `main`.
  ///   - adapt: what is done with the take's device before it is used.
  /// - Throws: if its device or its choice is not there any more.
  func setting(
    of feed: String? = nil, in library: PresetLibrary, _ adapt: (Device) throws -> Device
  ) throws -> Setting {
    let setup = sidecar.setup
    let device = try device(in: library)
    // Nothing but the sidecar says what was set.
    let preset =
      setup.array != nil
      ? nil : (try? library.preset(named: setup.preset)).flatMap { $0.device == device.name ? $0 : nil }
    var setting = Setting(preset: preset ?? Preset(of: device), device: try adapt(device))
    do {
      try setting.apply(changes(of: feed))
      setting.seats = try Seat.list(setup.seats ?? [])
    } catch {
      throw Failure(
        .failed, "the sidecar of \(path) holds an unusable setting: \(error); give --preset or --device")
    }
    return setting
  }

  /// The array as it was; of a take of an older Pinna, as it is now.
  private func device(in library: PresetLibrary) throws -> Device {
    let setup = sidecar.setup
    do {
      guard let array = setup.array else { return try library.device(named: setup.device) }
      return try array.device(named: setup.device) { try located($0, in: library) }
    } catch let failure as Failure {
      throw failure
    } catch is TakeError, is DeviceFault {
      throw Failure(
        .failed,
        "the sidecar of \(path) describes an array that there cannot be; it is damaged: give the array's file with --device"
      )
    } catch {
      throw Failure(
        .failed,
        "\(path) is of a take of the device \(setup.device), which cannot be used here (\(error)); give its file with --device"
      )
    }
  }

  /// The file of a measurement as it was when the take was recorded: at its place, beside the take, or where the present
  /// device has it.
  private func located(_ file: RecordedDevice.MeasuredFile, in library: PresetLibrary) throws(Failure)
    -> String
  {
    let name = file.path.split(separator: "/").last.map(String.init) ?? file.path
    let present = (try? library.device(named: sidecar.setup.device))?.measuredFiles ?? []
    let places = [file.path, folder + name] + present
    if let found = places.first(where: { file.digest != nil && ContentHash.ofFile($0) == file.digest }) {
      return found
    }
    throw Failure(
      .failed,
      "the array of \(path) is described by the measurement \(name), which is not here as it was; put that file beside the "
        + "take, or give an array with --device")
  }

  /// Says if the array's file is not as it was when the take was recorded, which the take does not depend on.
  func tellChanges(in library: PresetLibrary) {
    guard let array = sidecar.setup.array else { return }
    let own = array.file.flatMap { access($0, R_OK) == 0 ? try? library.device(path: $0) : nil }
    guard let present = own ?? (try? library.device(named: sidecar.setup.device)) else { return }
    guard !RecordedDevice(present, digest: ContentHash.ofFile).isSame(as: array) else { return }
    let file = present.source.path ?? present.name
    Tool.complain(
      "\(sidecar.setup.device) has changed since this take was recorded: it is rendered with the array as it was; for the "
        + "present one, give --device \(own == nil ? present.name : file)")
  }

  /// What was set for a feed.
  /// - Parameter feed: its name; nil for `main`.
  private func changes(of feed: String?) throws -> [Change] {
    guard let feed else { return try sidecar.setup.first.changes }
    let feeds = sidecar.feeds ?? []
    guard let setup = feeds.first(where: { $0.name == feed }) else {
      throw UnknownWord(kind: "feed", word: feed, choices: [FeedSetting.main] + feeds.map(\.name))
    }
    var values = setup.first
    if values[.pattern] == nil, let pattern = setup.order.flatMap(PolarPattern.ambisonics) {
      values[.pattern] = .word(pattern.rawValue)
    }
    return try values.changes
  }

  /// Says if the take was recorded with another device, or with another calibration of this one.
  /// - Parameter library: where the array's file is sought that may have changed since, if `device` is the recorded one;
  ///   nil if it is given.
  /// - Throws: if the take's microphones are others, or their file is not as it was.
  func check(_ device: Device, recordedIn library: PresetLibrary? = nil) throws(Failure) {
    if let fault = sidecar.fault(ofMicrophonesIn: folder, upTo: files) {
      throw Failure(.incompleteTake, "\(fault); bring that file back, or move the take's sidecar away")
    }
    let (setup, names) = (sidecar.setup, device.microphones.map(\.name))
    guard setup.microphones == names else {
      throw Failure(
        .failed,
        "\(path) is of a take of \(setup.device), with the microphones \(setup.microphones.joined(separator: ", ")), but "
          + "\(device.name) has \(names.joined(separator: ", ")); give --device \(setup.device), or move the take's sidecar away"
      )
    }
    if let library, setup.array != nil { return tellChanges(in: library) }
    if setup.device != device.name {
      Tool.complain("\(path) is of a take of \(setup.device), and taken as one of \(device.name)")
    } else if let array = setup.array, setup.calibrated == device.calibration?.date,
      !RecordedDevice(device, digest: ContentHash.ofFile).isSame(as: array)
    {
      Tool.complain("\(device.name) has changed since this take was recorded; it is taken as it is now")
    } else if setup.calibrated != device.calibration?.date {
      func words(_ date: String?) -> String { date.map { "the calibration of \($0)" } ?? "no calibration" }
      Tool.complain(
        "this take was recorded with \(words(setup.calibrated)) of \(device.name), which has "
          + "\(words(device.calibration?.date)) now")
    }
  }

  var gaps: TakeGaps { TakeGaps(sidecar) }

  /// The period that it was recorded with; nil if the sidecar does not say.
  var period: Int? {
    sidecar.engine.map(\.period).flatMap { (1...Partitioning.longestPeriod).contains($0) ? $0 : nil }
  }

  /// The instruction set that it was recorded with, if this processor has it.
  var instructionSet: InstructionSet? {
    sidecar.engine.flatMap { InstructionSet(rawValue: $0.instructionSet) }.flatMap {
      $0.isAvailable ? $0 : nil
    }
  }

  /// What comes before the file's first frame.
  struct Start {
    /// The microphones, without gaps. Shape: `[microphone][frame]`
    var microphones: [[Float]] = []
    /// The engine's clock at the first of these frames.
    var clock = 0
    /// The frame of these, or after them, for which `memory` is.
    var memoryFrame = 0
    var memory: EngineMemory?

    var frames: Int { microphones.first?.count ?? 0 }
  }

  /// What comes before the file's first frame: what the engine remembered when the take began, and the take's frames
  /// before the file's, from the files before it.
  /// - Parameters:
  ///   - count: how many are wanted. There are fewer where the take begins and the engine's memory is not there, and none
  ///     if a file is missing, which is said.
  ///   - period: they begin with a period of the whole take.
  func start(_ count: Int, period: Int) -> Start {
    var start = Start()
    let before = gaps.engineFrames(before: firstFrame)
    // Periods begin with the take's first frame after the pre-roll.
    let preRoll = sidecar.engine == nil ? 0 : sidecar.preRollFrames
    let zero = (sidecar.engine?.frame ?? 0) - preRoll
    let grid = preRoll % period
    let first = before - count >= grid ? (before - count - grid) / period * period + grid : 0
    // The take's frame of that one: gaps have no frames of the engine.
    var frame = first
    while gaps.engineFrames(before: frame) < first { frame += first - gaps.engineFrames(before: frame) }
    do throws(TakeError) {
      if firstFrame > frame {
        let block = try sidecar.microphones(before: firstFrame, count: firstFrame - frame, in: folder)
        start.microphones = gaps.removed(from: block, start: frame)
      }
    } catch {
      Tool.complain("\(error); \(path) is rendered as if silence came before it")
      start.clock = zero + before
      return start
    }
    start.clock = zero + first
    guard first == 0 else { return start }
    var lead = [[Float]](
      repeating: [Float](repeating: 0, count: (period - grid) % period),
      count: sidecar.setup.microphones.count)
    if let memory = sidecar.memory(in: folder), memory.period == period {
      if preRoll == 0 { lead = memory.microphones }
      (start.memory, start.memoryFrame) = (memory, lead[0].count + preRoll)
    }
    start.clock -= lead[0].count
    start.microphones =
      start.microphones.isEmpty ? lead : zip(lead, start.microphones).map { $0 + $1 }
    return start
  }

  /// What muted and faded the microphones where the take begins.
  func inputs(_ start: Start) -> FilterSets.InputStart? {
    start.memory.map { FilterSets.InputStart(frame: start.memoryFrame, $0) }
  }

  /// The memory of a feed's high-pass, if it is rendered as it was recorded.
  func highPass(of feed: String?, _ start: Start) -> (frame: Int, memory: [SIMD2<Double>])? {
    guard let memory = start.memory else { return nil }
    var first = 0
    var channels = sidecar.channels
    for other in feed == nil ? [] : sidecar.feeds ?? [] {
      first += channels
      channels = other.channels.count
      if other.name == feed { break }
    }
    guard channels > 0, first + channels <= memory.highPasses.count else { return nil }
    return (start.memoryFrame, Array(memory.highPasses[first..<first + channels]))
  }

  /// A feed's filters from each frame on, counted from the first of `start`.
  /// - Parameters:
  ///   - feed: its name; nil for `main`.
  ///   - selection: what was set for it.
  ///   - sets: filters without some microphones, which this adds to.
  /// - Throws: if the sidecar lists what no take can have.
  func substitutions(
    of feed: String?, _ selection: Selection, _ device: Device, sampleRate: Int, _ start: Start,
    _ sets: inout [Set<String>: FilterSets]
  ) throws -> [FilterSets.Substitution] {
    try checkFallbacks()
    let shift = start.frames - gaps.engineFrames(before: firstFrame)
    // What is listed at the take's first frame was in force before, too: a take begins between fades.
    func engine(_ frame: Int) -> Int { frame <= 0 ? 0 : gaps.engineFrames(before: frame) + shift }
    // From each frame on: without which microphones, and what is played of a selection that follows.
    var listed: [(frame: Int, without: Set<String>?, turn: Sidecar.Turn?)] =
      sidecar.fallbacks(from: 0, of: feed).map { (engine($0.frame), Set($0.without), nil) }
    do throws(TakeError) {
      let turns = selection.follows.isEmpty ? [] : try sidecar.turns(of: feed)
      listed += turns.map { (engine($0.frame), nil, $0) }
    } catch { throw Failure(.failed, "\(path): \(error); move the sidecar away to render without them") }
    listed = listed.enumerated().sorted { ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset) }
      .map(\.element)
    var present: (without: Set<String>, turn: Sidecar.Turn?) = ([], nil)
    var states: [(frame: Int, without: Set<String>, turn: Sidecar.Turn?)] = []
    for next in listed {
      present = (next.without ?? present.without, next.turn ?? present.turn)
      if states.last?.frame == next.frame { states.removeLast() }
      states.append((next.frame, present.without, present.turn))
    }
    // Those that matter no more when the file begins need no filters.
    let used = Array(states.filter { $0.frame <= 0 }.suffix(1)) + states.filter { $0.frame > 0 }
    guard used.contains(where: { !$0.without.isEmpty || $0.turn != nil }) else { return [] }
    return try used.map { frame, missing, turn in
      if !missing.isEmpty, sets[missing] == nil {
        sets[missing] = try FilterSets(
          fallbackFor: device, without: missing, sampleRate: sampleRate,
          progress: WorkProgress.designing(device.name))
      }
      return FilterSets.Substitution(
        frame: frame, filters: sets[missing], without: missing, turned: turn?.played(selection))
    }
  }

  private func checkFallbacks() throws(Failure) {
    let (all, names) = (sidecar.fallbacks ?? [], sidecar.setup.microphones)
    let isPlausible =
      all.allSatisfy { Set($0.without).isSubset(of: names) && 2 * Set($0.without).count <= names.count }
      && Set(all.map(\.feed)).allSatisfy { feed in
        let own = all.filter { $0.feed == feed }
        return zip(own, own.dropFirst()).allSatisfy { $0.frame < $1.frame } && own[0].frame >= 0
          && own.last!.frame <= sidecar.frames
      }
    guard isPlausible else {
      throw Failure(
        .failed,
        "the sidecar beside \(path) lists fallbacks that its take cannot have had; move it away to render without them"
      )
    }
  }
}
