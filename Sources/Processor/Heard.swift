import Rendering
import Settings

/// What is heard of `main` and what belongs to all feeds, and what shall be.
package struct Heard {
  /// The setting that is audible or fading in.
  package private(set) var inForce: Setting
  /// The newest accepted setting of the current device: in force, or on its way through the callback.
  package var wanted: Setting
  /// The filters of the current engine; nil before the first engine.
  private(set) var filters: FilterSets?
  /// The filters of `inForce`. They differ from `filters` between a device switch and its fade-in; if the server dies
  /// in between, and nobody was promised the new device, the next engine uses these.
  private var filtersInForce: FilterSets?

  init(_ setting: Setting) { (inForce, wanted) = (setting, setting) }

  /// Other feeds besides `main` are wanted. They have no part in the crossfades of `main`.
  mutating func want(_ feeds: [FeedSetting]) {
    wanted.want(feeds)
    inForce.want(feeds)
  }

  /// The callback has applied a change of `main`.
  mutating func applied(_ setting: Setting) {
    inForce = setting.with(wanted.others)
    filtersInForce = filters
  }

  /// An engine with other filters is in use. What is in force still sounds with the old ones.
  mutating func use(_ new: FilterSets) { filters = new }

  /// An engine has joined a graph with `filters`, and plays what is wanted.
  mutating func join(with new: FilterSets) {
    filters = new
    if wanted.device == inForce.device { filtersInForce = new }
  }

  /// The engine is gone. The next one plays what is wanted.
  mutating func leave() { if wanted.device == inForce.device { filters = filtersInForce ?? filters } }
}
