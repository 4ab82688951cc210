import AudioFiles
import Messages
import Processor
import Recording
import Rendering

/// What `render` of a take's microphones repeats: the filters that replaced those of all microphones while some failed.
struct TakeFallbacks {
  private let fallbacks: [Sidecar.Fallback]

  /// - Parameter path: of the microphones. A file that is not of a take has no fallbacks.
  /// - Throws: if the sidecar lists what no take can have.
  init(microphones path: String, setting: Setting) throws(Failure) {
    let names = setting.device.microphones.map(\.name)
    let found: (sidecar: Sidecar, firstFrame: Int)?
    do throws(TakeError) { found = try Sidecar.ofMicrophones(at: path) } catch {
      Tool.complain(
        "\(error.description); if microphones were missing during this take, that is not repeated")
      found = nil
    }
    guard let (sidecar, firstFrame) = found, sidecar.setup.microphones == names else {
      fallbacks = []
      return
    }
    let all = sidecar.fallbacks ?? []
    let isPlausible =
      all.allSatisfy { Set($0.without).isSubset(of: names) && 2 * Set($0.without).count <= names.count }
      && zip(all, all.dropFirst()).allSatisfy { $0.frame < $1.frame } && all.first?.frame ?? 0 >= 0
      && all.last?.frame ?? 0 <= sidecar.frames
    guard isPlausible else {
      throw Failure(
        .failed,
        "the sidecar beside \(path) lists fallbacks that its take cannot have had; move it away to render without them"
      )
    }
    fallbacks = sidecar.fallbacks(from: firstFrame)
  }

  /// The filters from each frame on. Says on standard error what is repeated.
  func substitutions(_ setting: Setting, sampleRate: Int) throws -> [FilterSets.Substitution] {
    guard fallbacks.contains(where: { !$0.without.isEmpty }) else { return [] }
    Tool.complain("this take was recorded with microphones missing; its fallback filters are repeated")
    var sets: [Set<String>: FilterSets] = [:]
    return try fallbacks.map { fallback in
      let missing = Set(fallback.without)
      if !missing.isEmpty, sets[missing] == nil {
        sets[missing] = try FilterSets(
          fallbackFor: setting.device, without: missing, sampleRate: sampleRate,
          progress: WorkProgress.designing(setting.device.name))
      }
      return FilterSets.Substitution(frame: fallback.frame, filters: sets[missing])
    }
  }
}
