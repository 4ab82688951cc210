/// The folder of Package.swift.
public let repositoryFolder: String = {
  let above = #filePath.split(separator: "/").dropLast(3)
  return "/" + above.joined(separator: "/")
}()
