import Realtime

/// What the audio thread remembers from one block to the next.
struct PluginState: BitwiseCopyable {
  /// Nil before `activate`.
  var engine: Unmanaged<Engine>?
  /// Frames since `activate`.
  var frame = 0
  /// What the controls said last.
  var seen = PluginSetting()
  /// What has been carried out, as far as it was possible.
  var applied = PluginSetting()
  /// What was asked of the engine last.
  var requested = PluginRequest(index: 0, PluginSetting())
  /// Changes that were not carried out: of locked controls, or to combinations that are not offered.
  var refused = 0
  /// What blocks are cut into; 0 before any was heard.
  var period = 0
  /// What the worker has been asked to prepare for, and has not been heard; 0 for nothing.
  var wantedPeriod = 0
  /// The greatest common divisor of the lengths that did not fit since; 0 for none.
  var commonLength = 0
  var lastLength = 0
  /// Frames of the last blocks, which had one length.
  var framesOfLastLength = 0
  var wantsWork = false
}

/// What the engine is asked for.
struct PluginRequest: BitwiseCopyable {
  /// Of the case.
  var index: Int
  /// Linear.
  var gain: Float
  /// Corner in hertz; 0 for off.
  var highPass: Double

  /// Thread: any.
  @_noLocks @_noAllocation
  init(index: Int, _ setting: PluginSetting) {
    self.index = index
    gain = setting.muted ? 0 : Float(ProcessorCalls.amplitude(decibels: setting.gain))
    highPass = setting.highPass
  }

  /// Not `==`, whose generic forms may allocate metadata in a debug build.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  func equals(_ other: PluginRequest) -> Bool {
    index == other.index && gain == other.gain && highPass == other.highPass
  }
}

/// The case of each combination of choices.
struct PluginChoices: @unchecked Sendable {
  // Unchecked: it does not change until `free`.

  let dataSources: Int
  let patterns: Int
  let orientations: Int
  /// −1 for what is not offered. Shape: `[data source][pattern][orientation]`.
  private let indices: UnsafeMutablePointer<Int>

  /// Thread: main.
  init(_ filters: PluginFilters) {
    (dataSources, patterns, orientations) = (filters.dataSources, filters.patterns, filters.orientations)
    indices = .allocate(capacity: dataSources * patterns * orientations)
    var setting = PluginSetting()
    for source in 0..<dataSources {
      for pattern in 0..<patterns {
        for orientation in 0..<orientations {
          (setting.dataSource, setting.pattern, setting.orientation) = (source, pattern, orientation)
          let at = (source * patterns + pattern) * orientations + orientation
          (indices + at).initialize(to: filters.index(of: setting) ?? -1)
        }
      }
    }
  }

  func free() { indices.deallocate() }

  /// −1 for what is not offered.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  func index(of setting: PluginSetting) -> Int {
    indices[(setting.dataSource &* patterns &+ setting.pattern) &* orientations &+ setting.orientation]
  }
}

/// From the values of the controls to requests of the engine.
extension PluginProcessor {
  /// Asks the engine for what the controls say, where that has changed and is possible.
  ///
  /// Thread: audio.
  @_noLocks @_noAllocation
  func applyControls(_ engine: Unmanaged<Engine>) {
    let setting = readSetting()
    let changes = state.pointee.seen.differences(setting)
    state.pointee.seen = setting
    if isOn(.lock) {
      state.pointee.refused &+= changes
      return
    }
    if state.pointee.applied.differences(setting) == 0 { return }
    var index = choices.index(of: setting)
    if index < 0 {
      // Level and high-pass are carried out all the same.
      index = state.pointee.requested.index
      if changes > 0 { state.pointee.refused &+= 1 }
    }
    let request = PluginRequest(index: index, setting)
    if !request.equals(state.pointee.requested) {
      let isAccepted = engine._withUnsafeGuaranteedRef {
        $0.change(toResident: request.index, gain: request.gain, highPass: request.highPass)
      }
      // Otherwise the next block tries again.
      guard isAccepted else { return }
      state.pointee.requested = request
      state.pointee.wantsWork = true
    }
    state.pointee.applied = setting
  }

  /// What the controls say, within what is possible. Those that are not connected, or not numbers, say what they said last.
  ///
  /// Thread: audio.
  @_noLocks @_noAllocation
  func readSetting() -> PluginSetting {
    var setting = state.pointee.seen
    setting.dataSource = choice(.dataSource, of: choices.dataSources, otherwise: setting.dataSource)
    setting.pattern = choice(.pattern, of: choices.patterns, otherwise: setting.pattern)
    setting.orientation = choice(.orientation, of: choices.orientations, otherwise: setting.orientation)
    if let gain = number(.gain) { setting.gain = max(gainLimits.least, min(gainLimits.most, gain)) }
    if let corner = number(.highPass) {
      setting.highPass = corner < highPassLimits.least ? 0 : min(highPassLimits.most, corner)
    }
    if let mute = number(.mute) { setting.muted = mute > 0 }
    return setting
  }

  /// The nearest choice to a control's value.
  @_noLocks @_noAllocation
  private func choice(_ control: PluginControl, of count: Int, otherwise last: Int) -> Int {
    guard let value = number(control) else { return last }
    return Int(max(0, min(Double(count &- 1), value)) + 0.5)
  }

  /// Whether a switch is on.
  @_noLocks @_noAllocation
  func isOn(_ control: PluginControl) -> Bool { (address(control)?.pointee ?? 0) > 0 }

  /// Where a control's value is; nil if it is not connected.
  @_noLocks @_noAllocation
  func address(_ control: PluginControl) -> UnsafeMutablePointer<Float>? { controls[control.place] }

  /// A control's value, rounded to hundredths: 32 bits would make −4.3 dB another gain than everywhere else.
  @_noLocks @_noAllocation
  private func number(_ control: PluginControl) -> Double? {
    guard let value = address(control)?.pointee, value.isFinite else { return nil }
    let hundredths = max(-1e6, min(1e6, Double(value))) * 100
    // The function that rounds is unknown to the realtime checks.
    return Double(Int(hundredths < 0 ? hundredths - 0.5 : hundredths + 0.5)) / 100
  }
}

extension PluginSetting {
  /// How many of the settings differ.
  @_noLocks @_noAllocation
  fileprivate func differences(_ other: PluginSetting) -> Int {
    (dataSource == other.dataSource ? 0 : 1) &+ (pattern == other.pattern ? 0 : 1)
      &+ (orientation == other.orientation ? 0 : 1) &+ (gain == other.gain ? 0 : 1)
      &+ (highPass == other.highPass ? 0 : 1) &+ (muted == other.muted ? 0 : 1)
  }
}
