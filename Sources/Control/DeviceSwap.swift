import Acoustics
import Foundation

/// Another device on its way in: its filters are designed on a thread of their own, then the outputs fade out,
/// then its microphones and engine take over and fade in.
struct DeviceSwap {
  let setting: Setting
  let reply: Processor.Reply
  /// The outputs are fading out; nothing is left to wait for but the callback.
  var isFading = false
  private let design: FilterDesignJob

  init(to setting: Setting, sampleRate: Int, reply: @escaping Processor.Reply) {
    self.setting = setting
    self.reply = reply
    design = FilterDesignJob(device: setting.device, sampleRate: sampleRate)
  }

  /// Nil while the filters are being designed.
  var result: Result<FilterSets, Failure>? { design.result.withLock { $0 } }
}

extension Processor {
  /// Goes on where the design is ready.
  func pollSwap() {
    guard let swap, !swap.isFading, let result = swap.result else { return }
    do {
      _ = try result.get().filters(for: swap.setting.selection, of: swap.setting.device)
      let current = try sets.filters(for: wanted.selection, of: wanted.device)
      try change(to: current, gain: 0, .fadeOut, nil)
      self.swap?.isFading = true
    } catch {
      self.swap = nil
      swap.reply(Answer(Failure(error)))
    }
  }

  /// The outputs are silent: the other device takes over. Where it cannot, what sounded before sounds again.
  func install() {
    defer { swap = nil }
    guard let swap, let new = try? swap.result?.get() else {
      try? post(inForce, reply: nil)
      return
    }
    do {
      let newEngine = makeEngine(new)
      try client.install(newEngine, of: swap.setting.device, new)
      adopt(newEngine, new)
      client.connectMicrophones(to: swap.setting.device.capturePorts)
      try post(swap.setting, reply: swap.reply)
    } catch {
      swap.reply(Answer(.failed, "the device could not be changed: \(error)"))
      try? post(inForce, reply: nil)
    }
  }
}
