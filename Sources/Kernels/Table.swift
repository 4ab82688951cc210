import CRealtime

/// These kernels, for the table that the engine calls through.
public func kernels() -> pinna_kernels {
  pinna_kernels(
    lanes: laneCount(), analyse: { analyse($0!, $1!, $2) }, synthesise: { synthesise($0!, $1!, $2) },
    take: { take($0!, $1, $2, $3!) })
}
