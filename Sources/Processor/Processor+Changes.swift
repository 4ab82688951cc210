import Acoustics
import Messages
import Presets
import Settings

/// Requests that change the setting.
extension Processor {
  /// Applies all of `changes` in one crossfade, or none of them. A change to another device waits for its filters and
  /// for the end of a take; the outputs are silent during the switch.
  /// - Parameter preset: the setting of the preset that `changes` names; nil if they name none.
  package func set(_ changes: [Change], preset: Setting? = nil, _ request: Request) throws {
    let setting = try target(of: changes, preset: preset)
    replaceInAim(changes)
    if setting.device != wanted.device || change != nil && changes.contains(where: \.choosesDevice) {
      return begin(changeTo: setting, request)
    }
    // It would be ambiguous which device a routing change applies to.
    if let change, changes.contains(where: \.isRouting) {
      throw Failure(
        .failed,
        "a change to the device \(change.setting.device.name) is pending; wait for it, or cancel it with: pinna preset cancel"
      )
    }
    // Gain and mute join the change of a device that is about to take over.
    if state.kind == .live, change?.isPrepared ?? false {
      try change?.setting.apply(changes)
      change?.requests.append(request)
      return
    }
    if case .fadingOut(var change, let engine, let filters, let ticket) = state {
      try change.setting.apply(changes)
      change.requests.append(request)
      return updateState(.fadingOut(change, engine, filters, ticket))
    }
    if setting.main.muted {
      endPlaybackNow(
        "the outputs were muted before the playback began; unmute them with: pinna set --mute off")
    }
    if let key = missingKey(for: setting.main.selection, of: setting.device), preset == nil {
      try aim(at: key, for: setting.main.selection, from: wanted, with: changes, request)
    } else {
      try post(setting, request, changes: changes)
      if preset == nil { try? onDemand.aim?.before.apply(changes) }
    }
    change?.add(inForce: changes)
  }

  /// The setting that `changes` would make of `wanted`.
  /// - Throws: if they are refused in this state, unknown, or unsupported by the device.
  package func target(of changes: [Change], preset: Setting? = nil) throws -> Setting {
    try refuseNow(changes)
    var setting = wanted
    if let preset {
      setting = preset
      setting.main.muted = wanted.main.muted
      setting.output = wanted.output
      setting.remember(wanted)
      // A preset without feeds leaves them as they are.
      if preset.others.isEmpty { setting.want(wanted.others) }
    }
    if let uid = changes.input {
      setting.choose(try input(uid, of: setting))
    }
    try setting.apply(changes)
    try checkFeeds(of: setting)
    if setting.device == wanted.device {
      try check(setting.main.selection)
    } else {
      try setting.device.check(setting.main.selection)
    }
    return setting
  }

  /// - Throws: if a feed cannot be there with the device, because a port is called the same.
  private func checkFeeds(of setting: Setting) throws(Failure) {
    for (n, feed) in setting.others.enumerated() {
      guard
        let obstacle = FeedNames.obstacle(to: feed, among: Array(setting.others[..<n]), of: setting.device)
      else { continue }
      throw Failure(
        .failed,
        "the feed \(feed.name) does not go with \(setting.device.name): \(obstacle); or remove it with: pinna feed "
          + "remove \(feed.name)")
    }
  }

  /// Throws if `changes` are not allowed in the current state, whatever their values.
  package func refuseNow(_ changes: [Change]) throws(Failure) {
    try refuseOutsideGraph()
    try refuseDuringTake()
    if changes.contains(where: \.isRouting) { try refuseDuringFadeOut() }
  }
}
