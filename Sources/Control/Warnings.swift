/// What is wrong with what comes in, a sentence each.
struct Warnings {
  private(set) var current: [String] = []
}
