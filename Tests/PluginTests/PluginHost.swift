import CLV2
import Foundation
import LV2Plugin
import Plugin
import TestSupport

/// A host of the plug-in in this process, through the C interface: it has as many of LV2's features as a test wants.
final class PluginHost {
  /// What a bundle has besides its descriptions: 3 microphones, two patterns of which one is stereo in two orientations, and
  /// a feed with four outputs.
  static func filters(rate: Int = 48000, taps: Int = 256, seed: UInt64 = 1) -> PluginFilters {
    var noise = SeededNoise(seed: seed)
    func random(_ outputs: Int) -> [[[Float]]] {
      (0..<outputs).map { _ in (0..<3).map { _ in noise.samples(taps, amplitude: 0.1) } }
    }
    return PluginFilters(
      sampleRate: rate, delayFrames: 64, microphones: 3, taps: taps, dataSources: 2, patterns: 2,
      orientations: 2,
      initial: PluginSetting(),
      cases: [
        .init(dataSource: 0, pattern: 0, orientation: nil, coefficients: random(1)),
        .init(dataSource: 0, pattern: 1, orientation: 0, coefficients: random(2)),
        .init(dataSource: 0, pattern: 1, orientation: 1, coefficients: random(2)),
        .init(dataSource: 1, pattern: 0, orientation: nil, coefficients: random(1)),
      ], feeds: [.init(gain: 0.5, highPass: 80, coefficients: random(4))])
  }

  let descriptor: UnsafePointer<LV2_Descriptor>
  private let library: UnsafePointer<LV2_Lib_Descriptor>
  private let handle: LV2_Handle
  private(set) var inputs: [UnsafeMutablePointer<Float>] = []
  private(set) var outputs: [UnsafeMutablePointer<Float>] = []
  private let controls: UnsafeMutablePointer<Float>
  let worker = Worker()
  private let features: HostMemory

  static let longest = 8192

  /// Counts the work that the plug-in has asked for, until `work` does it. As jalv's, it takes no request without content.
  final class Worker {
    var asked = 0
    /// How many requests find no room.
    var refusals = 0

    func schedule(_ size: UInt32, _ content: UnsafeRawPointer?) -> LV2_Worker_Status {
      guard size > 0, content != nil else { return LV2_WORKER_ERR_UNKNOWN }
      guard refusals == 0 else {
        refusals -= 1
        return LV2_WORKER_ERR_NO_SPACE
      }
      asked += 1
      return LV2_WORKER_SUCCESS
    }
  }

  /// A folder as a bundle has it.
  static func bundle(_ filters: [PluginFilters], uri: String = "urn:test:plugin") throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try folder.write("\(uri)\nports \(filters[0].microphones) \(filters[0].outputs)\n", to: "uri")
    for one in filters {
      try Data(one.bytes).write(
        to: URL(filePath: "\(folder.path)/\(PluginFilters.fileName(sampleRate: one.sampleRate))"))
    }
    return folder
  }

  /// - Parameters:
  ///   - hasWorker: whether it runs in real time, and has a thread for what does not.
  ///   - nominal: the block length that it names; nil for none.
  /// - Returns: nil if the plug-in refuses.
  init?(
    _ folder: String, rate: Double = 48000, hasWorker: Bool, nominal: Int32? = nil,
    controls values: [PluginControl: Float] = [:]
  ) {
    features = HostMemory(hasWorker ? worker : nil, nominal: nominal)
    guard let library = libraryDescriptor(folder + "/", features.list) else { return nil }
    guard let descriptor = library.pointee.get_plugin(library.pointee.handle, 0),
      let handle = descriptor.pointee.instantiate(descriptor, rate, folder + "/", features.list)
    else {
      library.pointee.cleanup(library.pointee.handle)
      return nil
    }
    (self.library, self.descriptor, self.handle) = (library, descriptor, handle)
    controls = .allocate(capacity: PluginControl.allCases.count)
    controls.initialize(repeating: 0, count: PluginControl.allCases.count)
    func buffer() -> UnsafeMutablePointer<Float> {
      let memory = UnsafeMutablePointer<Float>.allocate(capacity: Self.longest)
      memory.initialize(repeating: 0, count: Self.longest)
      return memory
    }
    inputs = (0..<3).map { _ in buffer() }
    outputs = (0..<6).map { _ in buffer() }
    for (control, value) in values { self[control] = value }
    for (port, memory) in (inputs + outputs).enumerated() {
      descriptor.pointee.connect_port(handle, UInt32(port), memory)
    }
    for control in PluginControl.allCases {
      descriptor.pointee.connect_port(handle, UInt32(9 + control.place), controls + control.place)
    }
    descriptor.pointee.activate(handle)
  }

  deinit {
    descriptor.pointee.cleanup(handle)
    library.pointee.cleanup(library.pointee.handle)
    for memory in inputs + outputs { memory.deallocate() }
    controls.deallocate()
  }

  subscript(control: PluginControl) -> Float {
    get { controls[control.place] }
    set { controls[control.place] = newValue }
  }

  /// Runs blocks of the lengths given over `microphones`, and does the work that is asked for after each.
  /// - Parameters:
  ///   - idle: after blocks that begin with these frames it does no work.
  ///   - change: called before each block with its first frame.
  /// - Returns: shape `[output][frame]`.
  func play(
    _ microphones: [[Float]], blocks: [Int], idle: Range<Int> = 0..<0,
    change: (Int, PluginHost) -> Void = { _, _ in }
  ) -> [[Float]] {
    var played = [[Float]](repeating: [], count: outputs.count)
    var position = 0
    for block in blocks {
      change(position, self)
      for (n, memory) in inputs.enumerated() {
        for k in 0..<block {
          memory[k] = position + k < microphones[n].count ? microphones[n][position + k] : 0
        }
      }
      run(block)
      if !idle.contains(position) { work() }
      for (n, memory) in outputs.enumerated() {
        played[n] += UnsafeBufferPointer(start: memory, count: block)
      }
      position += block
    }
    return played
  }

  func run(_ frames: Int) { descriptor.pointee.run(handle, UInt32(frames)) }

  /// Does what the plug-in has asked its worker for.
  func work() {
    guard worker.asked > 0 else { return }
    worker.asked = 0
    let interface = descriptor.pointee.extension_data(LV2URI.workerInterface)!
      .assumingMemoryBound(to: LV2_Worker_Interface.self)
    _ = interface.pointee.work(handle, { _, _, _ in LV2_WORKER_SUCCESS }, nil, 0, nil)
  }
}

/// The C structs of a host's features.
final class HostMemory {
  let list: UnsafePointer<UnsafePointer<LV2_Feature>?>
  private var memory: [UnsafeMutableRawPointer] = []

  /// URIs and their numbers.
  nonisolated(unsafe) private static var known: [String] = []
  private static let lock = NSLock()

  init(_ worker: PluginHost.Worker?, nominal: Int32?) {
    var memory: [UnsafeMutableRawPointer] = []
    func keep<T>(_ value: T) -> UnsafeMutablePointer<T> {
      let pointer = UnsafeMutablePointer<T>.allocate(capacity: 1)
      pointer.initialize(to: value)
      memory.append(UnsafeMutableRawPointer(pointer))
      return pointer
    }
    func text(_ text: String) -> UnsafePointer<CChar> {
      let copy = strdup(text)!
      memory.append(UnsafeMutableRawPointer(copy))
      return UnsafePointer(copy)
    }
    func feature(_ uri: String, _ data: UnsafeMutableRawPointer?) -> UnsafePointer<LV2_Feature>? {
      UnsafePointer(keep(LV2_Feature(URI: text(uri), data: data)))
    }
    let map = keep(LV2_URID_Map(handle: nil, map: { _, uri in HostMemory.number(String(cString: uri!)) }))
    var features: [UnsafePointer<LV2_Feature>?] = [feature(LV2URI.uridMap, map)]
    if let nominal {
      let options = UnsafeMutablePointer<LV2_Options_Option>.allocate(capacity: 2)
      memory.append(UnsafeMutableRawPointer(options))
      options.initialize(
        to: LV2_Options_Option(
          context: LV2_OPTIONS_INSTANCE, subject: 0, key: Self.number(LV2URI.nominalBlockLength), size: 4,
          type: Self.number(LV2URI.atomInt), value: keep(nominal)))
      (options + 1).initialize(
        to: LV2_Options_Option(
          context: LV2_OPTIONS_INSTANCE, subject: 0, key: 0, size: 0, type: 0, value: nil))
      features.append(feature(LV2URI.options, options))
    }
    if let worker {
      let schedule = keep(
        LV2_Worker_Schedule(
          handle: Unmanaged.passUnretained(worker).toOpaque(),
          schedule_work: { handle, size, content in
            Unmanaged<PluginHost.Worker>.fromOpaque(handle!).takeUnretainedValue().schedule(size, content)
          }))
      features.append(feature(LV2URI.workerSchedule, schedule))
    }
    let list = UnsafeMutablePointer<UnsafePointer<LV2_Feature>?>.allocate(capacity: features.count + 1)
    memory.append(UnsafeMutableRawPointer(list))
    for (n, feature) in (features + [nil]).enumerated() { (list + n).initialize(to: feature) }
    self.list = UnsafePointer(list)
    self.memory = memory
  }

  deinit { for pointer in memory { free(pointer) } }

  private static func number(_ uri: String) -> LV2_URID {
    lock.withLock {
      if let found = known.firstIndex(of: uri) { return LV2_URID(found + 1) }
      known.append(uri)
      return LV2_URID(known.count)
    }
  }
}
