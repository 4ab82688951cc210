import Acoustics

/// Permutations of microphones that leave the distances between them as they are, and how their capsules face each
/// other; the identity first, at most 200.
func symmetries(of microphones: [Microphone]) -> [[Int]] {
  let identity = Array(microphones.indices)
  guard identity.count <= Thresholds.mostSymmetricMicrophones else { return [identity] }
  var begun: [[Int]] = [[]]
  for m in identity {
    begun = begun.flatMap { order in
      identity.filter { !order.contains($0) && extends(order, by: $0, to: m, microphones) }.map {
        order + [$0]
      }
    }
    begun.removeLast(max(0, begun.count - 200))
  }
  return begun
}

/// Whether microphone `p` is to those of `order` as microphone `m` is to the first ones.
private func extends(_ order: [Int], by p: Int, to m: Int, _ microphones: [Microphone]) -> Bool {
  let (own, other) = (microphones[m], microphones[p])
  guard (own.capsule == nil) == (other.capsule == nil) else { return false }
  return order.indices.allSatisfy { n in
    let (first, image) = (microphones[n], microphones[order[n]])
    let distances = (own.position - first.position).length - (other.position - image.position).length
    return abs(distances) < Thresholds.samePlace
      && abs(facing(own, first) - facing(other, image)) < Thresholds.sameFacing
  }
}

/// Cosine of the angle between the directions that two capsules face.
private func facing(_ a: Microphone, _ b: Microphone) -> Double {
  guard let a = a.capsule, let b = b.capsule else { return 0 }
  return a.facing.vector.dot(b.facing.vector)
}
