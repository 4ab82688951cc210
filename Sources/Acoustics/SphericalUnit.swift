#if canImport(Glibc)
  import Glibc
#endif

/// The unit vector at `azimuth` (measured from the first axis towards the second) and `elevation` (towards the third).
public func sphericalUnit(azimuth: Angle, elevation: Angle) -> SIMD3<Double> {
  [
    cos(elevation.radians) * cos(azimuth.radians),
    cos(elevation.radians) * sin(azimuth.radians),
    sin(elevation.radians),
  ]
}
