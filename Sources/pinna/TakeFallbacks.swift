import AudioFiles
import Control
import Recording
import Rendering

/// What `render` of a take's microphones repeats: the filters that replaced those of all microphones while some failed.
struct TakeFallbacks {
  private let fallbacks: [Sidecar.Fallback]

  /// - Parameter path: of the microphones. A file that is not of a take has no fallbacks.
  init(microphones path: String, setting: Setting) {
    guard let (sidecar, firstFrame) = Sidecar.ofMicrophones(at: path),
      sidecar.setup.microphones == setting.device.microphones.map(\.name)
    else {
      fallbacks = []
      return
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
