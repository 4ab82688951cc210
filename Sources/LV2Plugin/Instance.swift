import CLV2
import Plugin

/// One plug-in in an LV2 host. The host's threads are those of `PluginProcessor`.
final class Instance {
  private let processor: PluginProcessor
  private let features: HostFeatures

  private init(_ processor: PluginProcessor, _ features: HostFeatures) {
    (self.processor, self.features) = (processor, features)
  }

  static let instantiate:
    @convention(c) (
      UnsafePointer<LV2_Descriptor>?, Double, UnsafePointer<CChar>?,
      UnsafePointer<UnsafePointer<LV2_Feature>?>?
    ) -> LV2_Handle? = { _, rate, bundle, features in
      let features = HostFeatures(features)
      guard let bundle else { return nil }
      let folder = String(cString: bundle)
      let whole = rate.isFinite && rate >= 1 && rate < 1e7 ? Int(rate.rounded()) : 0
      do {
        let filters = try PluginFilters(
          path: Bundle.path(PluginFilters.fileName(sampleRate: whole), in: folder))
        guard filters.sampleRate == whole else {
          throw PluginError("its filters are for \(filters.sampleRate) Hz; export the plug-in again")
        }
        guard
          Bundle.lines(folder: folder)?.dropFirst().first == "ports \(filters.microphones) \(filters.outputs)"
        else {
          throw PluginError("its filters have other ports than its description; export the plug-in again")
        }
        return Unmanaged.passRetained(Instance(PluginProcessor(filters), features)).toOpaque()
      } catch {
        features.log("Pinna cannot run at \(whole) Hz: \(error)")
        return nil
      }
    }

  static let connect: @convention(c) (LV2_Handle?, UInt32, UnsafeMutableRawPointer?) -> Void = {
    handle, port, address in
    instance(handle)._withUnsafeGuaranteedRef { $0.processor.connect(port: Int(port), to: address) }
  }

  static let activate: @convention(c) (LV2_Handle?) -> Void = { handle in
    let instance = instance(handle).takeUnretainedValue()
    instance.processor.activate(blockLength: instance.features.blockLength)
  }

  static let run: @convention(c) (LV2_Handle?, UInt32) -> Void = { handle, frames in
    instance(handle)._withUnsafeGuaranteedRef { $0.run(Int(frames)) }
  }

  static let cleanup: @convention(c) (LV2_Handle?) -> Void = { instance($0).release() }

  static let extensionData: @convention(c) (UnsafePointer<CChar>?) -> UnsafeRawPointer? = { uri in
    uri.map { String(cString: $0) } == LV2URI.workerInterface ? UnsafeRawPointer(worker) : nil
  }

  /// Lives as long as the process.
  nonisolated(unsafe) private static let worker = {
    let interface = UnsafeMutablePointer<LV2_Worker_Interface>.allocate(capacity: 1)
    interface.initialize(
      to: LV2_Worker_Interface(
        work: { handle, _, _, _, _ in
          instance(handle).takeUnretainedValue().processor.work()
          return LV2_WORKER_SUCCESS
        },
        work_response: { _, _, _ in LV2_WORKER_SUCCESS }, end_run: nil))
    return interface
  }()

  private static func instance(_ handle: LV2_Handle?) -> Unmanaged<Instance> { .fromOpaque(handle!) }

  /// Without a worker, the host is a program that processes files: it may wait.
  private func run(_ frames: Int) {
    guard let schedule = features.schedule, !processor.isFreewheeling else {
      return processor.runUnhurried(frames)
    }
    processor.run(frames)
    // jalv 1.6.8 refuses requests without content, and 1.6.6 serves one of them alone. What a host refuses is asked again.
    var content: UInt32 = 0
    if processor.wantsWork,
      schedule.schedule_work(schedule.handle, UInt32(MemoryLayout.size(ofValue: content)), &content)
        == LV2_WORKER_SUCCESS
    {
      processor.workIsComing()
    }
  }
}
