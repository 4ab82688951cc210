import CRealtime

/// The kernels of this compilation, as the table of functions through which the engine calls them.
///
/// Thread: any. The functions in the table belong to one thread at a time, in practice the process callback.
public func kernels() -> pinna_kernels {
  pinna_kernels(
    lanes: laneCount(), analyse: { analyse($0!, $1!, $2) }, synthesise: { synthesise($0!, $1!, $2) },
    copyAndMeasure: { copyAndMeasure($0!, $1, $2, $3!) },
    addDirectly: { addDirectly($0!, $1, $2!, $3!, $4, $5!, $6!) })
}
