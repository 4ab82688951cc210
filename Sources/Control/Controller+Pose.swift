import Acoustics
import Messages
import Processor
import Settings

/// The pose that comes in, from whoever may send it.
extension Controller {
  /// Handles a message with a pose.
  func pose(_ format: PoseFormat, _ words: [String], _ request: Request) throws {
    let numbers = try PoseFormat.numbers(words)
    switch format {
    // Where nothing follows them, they are settings, which takes lock.
    case .roll where !processor.follows(.roll): return try change([Change(.roll, words[0])], of: nil, request)
    case .yaw where !processor.follows(.yaw) && !processor.follows(.look):
      return try change([Change(.yaw, words[0])], of: nil, request)
    default: break
    }
    guard let pose = format.pose(numbers, isInRadians: isInRadians(format), present: present) else {
      throw Failure(.usage, "four numbers that are all 0 are no rotation; give a quaternion")
    }
    processor.track(pose)
    answerPose(request)
  }

  /// Answers what counts by now.
  func answerPose(_ request: Request) {
    if let report = processor.trackerReport { request.answer(.done(report)) }
  }

  /// Pinna's own methods take degrees, whatever the tracker sends.
  private func isInRadians(_ format: PoseFormat) -> Bool {
    format != .roll && format != .yaw && (poses?.isInRadians ?? false)
  }

  fileprivate var present: TrackedPose { processor.trackedPose ?? TrackedPose() }
}

extension PoseSocket: RequestSource {
  /// Nobody is answered here.
  func receive(_ controller: Controller) {
    if let pose = newest(after: controller.present) { controller.processor.track(pose) }
    controller.processor.trackerProblem = problem
  }
}
