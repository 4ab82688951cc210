import Acoustics
import Messages
import Rendering
import Settings

/// Filters of cases that the device's do not contain, looks and B-format, designed when they are first wanted.
///
/// Thread: control thread; a value.
struct OnDemand {
  /// What changes take their filters from.
  var choice = FilterChoice()
  var designs: [FilterChoice.Key: (job: Job<FilterSets>, deadline: ContinuousClock.Instant)] = [:]
  /// Why there are no filters for a case. Tried again when it is wanted again.
  var failures: [FilterChoice.Key: Failure] = [:]
  /// What `main` shall play when its filters are there.
  var aim: Aim?
  var nearby = NearbyDesigns()

  struct Aim {
    /// A case whose filters are not there yet.
    var key: FilterChoice.Key
    /// What shall be played.
    let selection: Selection
    /// What was asked for with it, as far as nothing newer was.
    var changes: [Change]
    /// What was wanted before, with what was changed since: to go back to if there are no filters.
    var before: Setting
    /// The same with the nearest case, which is played until then.
    let meanwhile: Setting
    /// Nil if an engine restores what was played.
    let request: Request?

    /// What is wanted if there are no filters: what was wanted before, with the feeds that were changed since.
    func restored(_ wanted: Setting) -> Setting {
      wanted.others == meanwhile.others ? before : before.with(wanted.others)
    }
  }

  /// The engine has gone: what its rate or device needs is not known any more.
  mutating func reset() {
    for design in designs.values { design.job.abandon() }
    (designs, failures) = ([:], [:])
    nearby.pause()
    nearby = NearbyDesigns()
  }
}

extension Processor {
  /// The limit of a design.
  static let designLimit = Duration.seconds(600)

  /// The key of filters that have to be designed before a selection plays; nil if they are there.
  func missingKey(for selection: Selection, of device: Device) -> FilterChoice.Key? {
    guard let filters else { return nil }
    return onDemand.choice.missingKey(for: selection, of: device, sampleRate: filters.sampleRate)
  }

  /// Begins a design unless it is under way.
  func design(_ key: FilterChoice.Key) {
    guard onDemand.designs[key] == nil else { return }
    onDemand.failures[key] = nil
    do {
      guard let own = try key.device.ownDevice(of: key.selection) else { return }
      let job =
        key.missing.isEmpty
        ? world.design(own, sampleRate: key.sampleRate)
        : world.fallback(for: own, without: key.missing, sampleRate: key.sampleRate)
      onDemand.designs[key] = (job, world.now + Self.designLimit)
    } catch {
      onDemand.failures[key] = Failure(error)
    }
  }

  /// Collects the designs that have ended, and aims where their filters lead.
  func pollOnDemand() {
    for (key, design) in onDemand.designs {
      switch design.job.result {
      case .success(let sets):
        do { try keep(sets, key) } catch { onDemand.failures[key] = Failure(error) }
      case .failure(let failure): onDemand.failures[key] = failure
      case nil where hasPassed(design.deadline):
        design.job.abandon()
        onDemand.failures[key] = Failure(.failed, "the design of its filters took longer than 10 minutes")
      case nil: continue
      }
      onDemand.designs[key] = nil
    }
    pollAim()
  }

  /// - Throws: why the filters cannot be used.
  func keep(_ sets: FilterSets, _ key: FilterChoice.Key) throws {
    try sets.check(key.selection, of: key.device.ownDevice(of: key.selection) ?? key.device)
    let inUse = (inForce.feeds + wanted.feeds).map(\.selection).flatMap {
      FilterChoice.keys(
        for: onDemand.choice.played($0), of: wanted.device, sampleRate: key.sampleRate, without: key.missing)
    }
    onDemand.choice.keep(sets, for: key, notForgetting: inUse)
    client?.use(onDemand.choice)
  }

  // MARK: Main

  /// Plays the nearest case until the filters of another are designed.
  /// - Parameters:
  ///   - setting: all that is wanted at once.
  ///   - changes: what follows with the case.
  func aim(
    at key: FilterChoice.Key, for selection: Selection, from setting: Setting, with changes: [Change] = [],
    _ request: Request?
  ) throws {
    dropAim(Failure(.failed, Failure.superseded))
    let before = wanted
    guard let filters else { return }
    var meanwhile = setting
    meanwhile.main.selection = onDemand.choice.nearest(
      to: selection, of: setting.device, filters,
      otherwise: setting.device == before.device ? before.main.selection : nil)
    if meanwhile != wanted { try post(meanwhile, nil, standsIn: true, isRestoring: request == nil) }
    design(key)
    onDemand.aim = OnDemand.Aim(
      key: key, selection: selection, changes: changes, before: before, meanwhile: meanwhile, request: request
    )
  }

  /// Newer changes replace those that wait for a design.
  func replaceInAim(_ changes: [Change]) {
    if changes.contains(where: \.choosesCase) { return dropAim(Failure(.failed, Failure.superseded)) }
    let keys = Set(changes.map(\.key))
    onDemand.aim?.changes.removeAll { keys.contains($0.key) }
  }

  func dropAim(_ failure: Failure) {
    guard let aim = onDemand.aim else { return }
    onDemand.aim = nil
    dropDesign(aim.key)
    aim.request?.fail(failure)
  }

  /// Ends a design that neither `main` nor a feed waits for any more.
  func dropDesign(_ key: FilterChoice.Key) {
    let isNeeded =
      onDemand.aim?.key == key
      || machines.values.contains { if case .designing(key) = $0.step { true } else { false } }
    if !isNeeded { onDemand.designs.removeValue(forKey: key)?.job.abandon() }
  }

  private func pollAim() {
    guard var aim = onDemand.aim else { return }
    if state.take != nil {
      // What an engine restores comes after the take.
      if aim.request == nil { return }
      let nearest = wanted.main.selection.effectiveLook.map { "; the look \($0.word) is recorded" } ?? ""
      return dropAim(
        Failure(
          .refused,
          "a take has begun before the filters were designed\(nearest); \(recordingReason)"))
    }
    if let failure = onDemand.failures.removeValue(forKey: aim.key) {
      onDemand.aim = nil
      giveUp(aim, failure)
    } else if let job = onDemand.designs[aim.key]?.job {
      guard let part = job.progress, world.now >= nextProgress else { return }
      nextProgress = world.now + .seconds(1)
      aim.request?.reportProgress("designing filters", part: part)
    } else {
      if let next = missingKey(for: aim.selection, of: aim.key.device) {
        aim.key = next
        onDemand.aim = aim
        return design(next)
      }
      onDemand.aim = nil
      var setting = wanted
      do {
        try setting.apply(aim.changes)
        setting.main.selection = aim.selection
        guard setting.device == aim.key.device else { throw Failure(.failed, Failure.superseded) }
        try post(setting, aim.request, changes: aim.changes.isEmpty ? nil : aim.changes)
      } catch { giveUp(aim, Failure(error)) }
    }
  }

  /// What was wanted before is wanted again, if anybody asked for something else.
  private func giveUp(_ aim: OnDemand.Aim, _ failure: Failure) {
    guard let request = aim.request else {
      return warn("main plays the case nearest to what it played before: \(failure.description)")
    }
    let restored = aim.restored(wanted)
    if restored.device != wanted.device {
      begin(
        changeTo: restored,
        Request { [warn] outcome in
          guard case .failed(let failure) = outcome else { return }
          warn("the setting before the preset is not restored: \(failure); choose it again")
        })
    } else if restored != wanted {
      do { try post(restored, nil, standsIn: true, isRestoring: true) } catch {
        warn("the setting before the request is not restored: \(Failure(error)); choose it again")
      }
    }
    request.fail(failure)
  }
}
