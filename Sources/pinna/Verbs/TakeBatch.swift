import FoundationEssentials
import Glibc
import JackTools
import Messages
import Settings
import Text
import Threads

/// Takes that child processes work on, several at a time, so that one that fails, or crashes, leaves the others alone. A line
/// of JSON tells of each.
struct TakeBatch {
  struct Take {
    let path: String
    let outputs: [String]
    /// What designs its filters: takes of one device and rate share them. Nil if it needs none.
    var design: String?
    /// Why nothing is done with it; nil if something is.
    let fault: String?
    /// None if everything is there already.
    let commands: [TakeJob.Command]

    /// Creates the folders of its outputs.
    func makeFolders() throws {
      let folders = Set(outputs.map { String($0[..<$0.lastIndex(of: "/")!]) })
      for folder in folders { try OutputFolder.make(folder) }
    }
  }

  let takes: [Take]
  let jobs: Int
  /// What is done, as in "rendering 3 takes", "rendered", and "the same command renders the others".
  let verbs: (doing: String, done: String, does: String)

  /// How many child processes there may be at once.
  static func jobs(_ arguments: Arguments) throws -> Int {
    try arguments.integer("--jobs", in: 1...1024) ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
  }

  func run() throws -> ExitStatus {
    let stops = StopCount()
    Signals.onStop(hearsHangup: true) { stops.next() }
    let progress = WorkProgress.step("\(verbs.doing) \("take".counted(takes.count))")
    var (running, designs, done, hasFailed) = ([TakeJob](), [String: TakeJob?](), 0, false)
    func report(_ take: Take, _ state: String, _ more: JSONObject) {
      done += 1
      progress(Double(done) / Double(takes.count))
      hasFailed = hasFailed || state == "failed"
      let outputs: JSONObject = ["output": take.outputs.first, "outputs": take.outputs]
      Tool.say(json: (["take": take.path, "state": state] + outputs + more).text)
    }
    var waiting: [Take] = []
    for take in takes {
      if let fault = take.fault {
        report(take, "failed", ["error": fault])
      } else if take.commands.isEmpty {
        report(take, "skipped", [:])
      } else {
        waiting.append(take)
      }
    }
    while !waiting.isEmpty || !running.isEmpty, stops.count == 0 {
      // One job designs the filters of a device, and the others take them from the cache.
      let next = waiting.firstIndex { take in
        take.design.flatMap { designs[$0] }.map { $0?.hasFilters ?? true } ?? true
      }
      if running.count < jobs, let next {
        let take = waiting.remove(at: next)
        do {
          try take.makeFolders()
          let job = try TakeJob(take)
          if let design = take.design, designs[design] == nil { designs[design] = job }
          running.append(job)
        } catch { report(take, "failed", ["error": "\(error)"]) }
        continue
      }
      for job in running where job.hasEnded() {
        if let design = job.take.design, designs[design] ?? nil === job { designs[design] = .some(nil) }
        report(job.take, job.error == nil ? verbs.done : "failed", job.answer)
      }
      running.removeAll { $0.isOver }
      usleep(5000)
    }
    guard stops.count == 0 else {
      for job in running { job.terminate() }
      for job in running { job.waitUntilExit() }
      throw Failure(
        .failed,
        "interrupted; \(done) of \("take".counted(takes.count)) \(done == 1 ? "is" : "are") done; the same command "
          + "\(verbs.does) the others")
    }
    return hasFailed ? .incompleteTake : .done
  }
}
