/// One feed in the callback: what is heard on its outputs, and what it fades to. Each feed fades by itself.
///
/// Feed 0 is `main`, which always exists: left and right.
struct FeedState: BitwiseCopyable {
  /// 0 while there is no such feed.
  var outputs = 0
  /// Index of its first output in `Period.feeds`. Main's outputs are not among them.
  var firstOutput = 0
  /// The audible setting. Nil, which means silence, until the first change.
  var current: FilterSetting?
  /// The setting that the outputs fade to; nil if no change is under way.
  var next: FilterSetting?
  /// Whether `next` is not audible yet, because its tail is still being computed.
  var isFormingTail = false
  /// Frames of the fade to `next` played so far.
  var fadePosition = 0
  /// The newest change or substitution received during a fade.
  var pending: FilterSetting?
  /// Nil if the feed has none.
  var preRoll: Unmanaged<PreRoll>?
  /// The way of filters that follow the sound; nil if none ever will.
  var lane: Unmanaged<FilterLane>?
  /// The frame at which such filters were last taken up.
  var adoptionFrame = 0

  /// Whether it fades to what somebody asked for, or is about to.
  ///
  /// Thread: any.
  var isChanging: Bool {
    @_noLocks @_noAllocation
    get {
      if pending != nil { return true }
      guard let next else { return false }
      return !next.isAdaptation
    }
  }

  /// Outputs are computed in pairs.
  ///
  /// Thread: any.
  var pairs: Int {
    @_noLocks @_noAllocation get { (outputs &+ 1) &>> 1 }
  }

  /// Thread: any.
  @_noLocks @_noAllocation
  init(
    outputs: Int = 0, firstOutput: Int = 0, preRoll: Unmanaged<PreRoll>? = nil,
    lane: Unmanaged<FilterLane>? = nil
  ) {
    self.outputs = outputs
    self.firstOutput = firstOutput
    self.preRoll = preRoll
    self.lane = lane
  }
}

/// The feeds of an engine, and the memory of their high-passes.
struct FeedTable: ~Copyable, @unchecked Sendable {
  // Unchecked: only the callback uses it after the first period.

  /// Including `main`.
  static let capacity = 16
  /// Outputs of all feeds but `main`: 64 with main's two.
  static let mostOutputs = 62
  /// Of one feed: order 4 has 25 outputs.
  static let mostPairs = 13

  let states: UnsafeMutablePointer<FeedState>
  /// Shape: `[feed][pair][current, next]`.
  private let memories: UnsafeMutablePointer<HighPassFilter.Memory>
  private let memoriesPerFeed = 2 * FeedTable.mostPairs

  /// Thread: control side.
  init() {
    states = .allocate(capacity: Self.capacity)
    states.initialize(repeating: FeedState(), count: Self.capacity)
    states[0].outputs = 2
    memories = .allocate(capacity: Self.capacity * memoriesPerFeed)
    memories.initialize(repeating: HighPassFilter.Memory(), count: Self.capacity * memoriesPerFeed)
  }

  deinit {
    states.deallocate()
    memories.deallocate()
  }

  /// The memories of the high-passes of the current setting and, one further, of the next.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func highPassMemory(_ feed: Int, pair: Int) -> UnsafeMutablePointer<HighPassFilter.Memory> {
    memories + (feed &* memoriesPerFeed &+ 2 &* pair)
  }

  /// Starts the high-passes of a feed from silence.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func clearHighPasses(_ feed: Int) {
    let first = highPassMemory(feed, pair: 0)
    var n = 0
    while n < memoriesPerFeed {
      first[n] = HighPassFilter.Memory()
      n &+= 1
    }
  }
}
