import Acoustics
import Presets

/// Requests that change what is set.
extension Processor {
  /// Several changes at once, as words: one crossfade, all or nothing. Another device takes over in silence, when its
  /// filters are there and no take is running.
  /// - Parameter preset: what the preset among `changes` sets, if one is.
  package func set(_ changes: [Change], preset: Setting? = nil, _ request: Request) throws {
    let setting = try target(of: changes, preset: preset)
    if setting.device != wanted.device || change != nil && changes.contains(where: \.choosesDevice) {
      return begin(changeTo: setting, request)
    }
    if changes.contains(where: \.isRouting) { try refuseDuringDesign() }
    // Gain and mute come with a device that is about to take over.
    if state.kind == .live, change?.isPrepared ?? false {
      try change?.setting.apply(changes)
      change?.requests.append(request)
      return
    }
    if case .fadingOut(var change, let engine, let filters, let ticket) = state {
      try change.setting.apply(changes)
      change.requests.append(request)
      return hold(.fadingOut(change, engine, filters, ticket))
    }
    if setting.muted, state.playback != nil { endPlaybackNow() }
    try post(setting, request)
    change?.add(inForce: changes)
  }

  /// What `changes` would make of what is wanted now.
  /// - Throws: where they are refused, unknown or unsupported.
  package func target(of changes: [Change], preset: Setting? = nil) throws -> Setting {
    try refuseNow(changes)
    var setting = wanted
    if let preset {
      setting = preset
      setting.muted = wanted.muted
      setting.output = wanted.output
      setting.remember(wanted)
    }
    if let uid = changes.last(where: { $0.key == Change.input })?.value {
      setting.choose(try input(uid, of: setting))
    }
    try setting.apply(changes.filter { ![Change.preset, Change.input].contains($0.key) })
    if setting.device == wanted.device {
      try filters?.check(setting.selection, of: setting.device)
    } else {
      _ = try setting.device.filterCase(for: setting.selection)
    }
    return setting
  }

  /// Refuses what could not be changed now, whatever it is.
  package func refuseNow(_ changes: [Change]) throws(Failure) {
    try refuseOutsideGraph()
    try refuseDuringTake()
    if changes.contains(where: \.isRouting) { try refuseDuringFadeOut() }
  }

  /// What is heard from where, as long as another device is on its way: two answers to "which device" would be one too
  /// many.
  private func refuseDuringDesign() throws(Failure) {
    guard let change else { return }
    throw Failure(
      .failed,
      "the device \(change.setting.device.name) is on its way; wait for it, or cancel it with: pinna preset cancel"
    )
  }
}

extension Change {
  /// Whether it may bring another device.
  var choosesDevice: Bool { [Change.preset, Change.input].contains(key) }
}
