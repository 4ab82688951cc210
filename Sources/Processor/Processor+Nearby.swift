import Acoustics
import Messages
import Rendering

/// Looks and poses around those that are heard, designed one after another while nothing else is: what moves finds
/// filters within 5°.
///
/// Thread: control thread; a value.
struct NearbyDesigns {
  /// In degrees.
  static let step = Pose.step
  /// Two rings: room is left for those that somebody asked for.
  static let most = FilterChoice.mostOwn * 3 / 4

  /// What looks somewhere or follows a pose.
  private var centres: [Selection] = []
  /// What is not designed yet, the nearest last.
  private var remaining: [Selection] = []
  /// Looks that the array cannot favour, and poses whose design failed.
  private var impossible: Set<Selection> = []
  private var job: (key: FilterChoice.Key, job: Job<FilterSets>, deadline: ContinuousClock.Instant)?

  /// Whether a design is under way.
  var isBusy: Bool { job != nil }

  /// A requested design or a take needs the processor.
  mutating func pause() {
    guard let job else { return }
    job.job.abandon()
    remaining.append(job.key.selection)
    self.job = nil
  }

  /// Designs around `centres` from now on. A design that is under way ends first.
  mutating func choose(around centres: [Selection], on device: Device, isDesigned: (Selection) -> Bool) {
    guard centres != self.centres else { return }
    self.centres = centres
    // What is heard now comes first.
    let looks = Self.looks(around: centres, on: device)
    let all =
      centres.flatMap(\.presentPoses) + looks.prefix(centres.count) + centres.flatMap(\.laterPoses) + looks
    var known: Set<Selection> = []
    remaining = all.filter { known.insert($0).inserted }.prefix(Self.most).filter {
      !impossible.contains($0) && $0 != job?.key.selection && !isDesigned($0)
    }.reversed()
  }

  /// The looks of a grid of 5° around the axis that is up: of each centre those at its elevation, if the array has height.
  /// The nearest first.
  static func looks(around centres: [Selection], on device: Device) -> [Selection] {
    var angles: [Selection: Double] = [:]
    for centre in centres {
      guard let look = centre.effectiveLook, let source = try? device.dataSource(named: centre.dataSource)
      else { continue }
      let frame = device.frame(of: source, centre.inputOrientation)
      let rounded = (look.elevation / step).rounded() * step
      // All azimuths of a pole are the same.
      let elevation = device.hasHeight(along: frame.up) ? max(-90 + step, min(90 - step, rounded)) : 0
      for azimuth in stride(from: -180 + step, through: 180, by: step) {
        var selection = centre
        selection.follows = []
        selection.look = Look(azimuth: azimuth, elevation: elevation)!
        let cosine = selection.look!.direction(in: frame).vector.dot(look.direction(in: frame).vector)
        angles[selection] = min(-cosine, angles[selection] ?? 1)
      }
    }
    func order(_ selection: Selection) -> (Double, Double, String) {
      (angles[selection]!, selection.look!.azimuth, selection.polarPattern.rawValue)
    }
    return Array(angles.keys.sorted { order($0) < order($1) }.prefix(most))
  }

  /// These filters cannot be used.
  mutating func refuse(_ selection: Selection) { impossible.insert(selection) }

  /// Collects the design that has ended, and begins the next.
  /// - Returns: filters that are new.
  mutating func advance(
    now: ContinuousClock.Instant, limit: Duration,
    design: (Selection) -> (FilterChoice.Key, Job<FilterSets>)?
  ) -> (FilterChoice.Key, FilterSets)? {
    var new: (FilterChoice.Key, FilterSets)?
    if let (key, job, deadline) = job {
      switch job.result {
      case .success(let sets): new = (key, sets)
      case .failure: refuse(key.selection)
      case nil where now > deadline:
        job.abandon()
        refuse(key.selection)
      case nil: return nil
      }
      self.job = nil
    }
    while job == nil, let next = remaining.popLast() {
      job = design(next).map { ($0.0, $0.1, now + limit) }
    }
    return new
  }
}

extension Processor {
  /// Designs the looks and poses around those that are wanted, while nothing is changed or missing, and nobody waits for
  /// another design. Only what follows a pose is designed during takes.
  func pollNearby() {
    let isFollowing = wanted.feeds.map(\.selection).contains {
      !$0.follows.isEmpty
    }
    guard state.kind == .live || state.kind == .recording && isFollowing, change == nil,
      onDemand.designs.isEmpty, onDemand.aim == nil,
      !isChangingMain, fallback.job == nil, fallback.watch.missing.isEmpty, fallback.chosen.isEmpty,
      let filters
    else { return onDemand.nearby.pause() }
    let (device, choice) = (wanted.device, onDemand.choice)
    let centres = wanted.feeds.map(\.selection).map { selection in
      var centre = selection.following(
        tracking.pose, talker: tracking.place, on: device
      ).onGrid
      centre.follows = selection.follows
      return centre
    }.filter { $0.effectiveLook != nil || !$0.follows.isEmpty }
    func key(_ selection: Selection) -> FilterChoice.Key {
      FilterChoice.Key(
        device: device, selection: selection, sampleRate: filters.sampleRate, missing: [])
    }
    onDemand.nearby.choose(around: centres, on: device) { choice.contains(key($0)) }
    let new = onDemand.nearby.advance(now: world.now, limit: Self.designLimit) { selection in
      guard let own = try? device.ownDevice(of: selection) else { return nil }
      return (key(selection), world.designNearby(own, sampleRate: filters.sampleRate))
    }
    guard let (key, sets) = new else { return }
    do { try keep(sets, key) } catch { onDemand.nearby.refuse(key.selection) }
  }
}

extension Selection {
  /// With the nearest pose that filters are designed for.
  fileprivate var onGrid: Selection {
    var selection = self
    func grid(_ angle: Double) -> Double { (angle / Pose.step).rounded() * Pose.step }
    selection.pose = Pose(roll: grid(pose.roll), yaw: grid(pose.yaw))
    return selection
  }

  /// The stereo cases around this pose, each after those from which it is designed.
  fileprivate var presentPoses: [Selection] {
    let rolls = follows.contains(.roll) ? [0, Pose.step, -Pose.step] : [0]
    let yaws = follows.contains(.yaw) ? [0, Pose.step, -Pose.step] : [0]
    return posed(
      rolls.flatMap { roll in
        yaws.flatMap { yaw in Pose(roll: pose.roll + roll, yaw: pose.yaw + yaw).way }
      })
  }

  /// Those of the circles of what moves, the nearest to no pose first.
  fileprivate var laterPoses: [Selection] {
    var poses: [Pose] = []
    for angle in stride(from: Pose.step, through: 180, by: Pose.step).flatMap({ [$0, -$0] }) {
      if follows.contains(.roll) { poses.append(Pose(roll: angle)) }
      if follows.contains(.yaw) {
        poses.append(Pose(roll: follows.contains(.roll) ? 0 : pose.roll, yaw: angle))
      }
    }
    return posed(poses)
  }

  private func posed(_ poses: [Pose]) -> [Selection] {
    guard polarPattern == .stereo, !follows.isEmpty else { return [] }
    return poses.map {
      var selection = self
      (selection.pose, selection.follows, selection.look) = ($0, [], nil)
      return selection
    }
  }
}

extension Pose {
  /// The poses that lead from none to this one.
  fileprivate var way: [Pose] {
    var way = [self]
    while let inward = way.last?.inward { way.append(inward) }
    return way.reversed()
  }
}
