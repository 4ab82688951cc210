import AudioFiles
import Glibc

/// The sidecar on disk during its take: NAME.json.part. Creating it also claims the take's name.
///
/// It is replaced atomically, never overwritten: a new version goes into NAME.json.part.next, which is then renamed.
/// The space for the next version is allocated in advance, before the audio can fill the disk.
///
/// Both files are locked, the next one before it is renamed. A repair therefore always sees that the take is being
/// written. The kernel releases the locks however the program ends.
///
/// Thread: the take's disk thread, or the thread that repairs the take. Every call waits for the disk.
package final class SidecarFile {
  private let folder: OpenFolder
  private let name: String
  private var partName: String { name + ".part" }
  private var nextName: String { partName + ".next" }
  private var current: Int32
  /// The file for the next version; negative if there is none.
  private var nextDescriptor: Int32 = -1
  /// Bytes allocated for it.
  private var nextRoom = 0
  private var isRepair = false
  /// Why other programs cannot see that the take is being written; nil if they can.
  private(set) var lockFault: String?

  /// Nil if another take has claimed the name.
  init?(folder: OpenFolder, name: String) throws(TakeError) {
    self.folder = folder
    self.name = name
    current = folder.create(name + ".part")
    guard current < 0 else {
      lockFault = FileLock.acquire(current, timeout: .seconds(1)).fault
      return
    }
    let reason = errno
    if reason == EEXIST { return nil }
    throw TakeError("cannot write \(folder.path(of: name)).part: \(String(cString: strerror(reason)))")
  }

  /// A sidecar that a crash left behind.
  /// - Parameter descriptor: of NAME.json.part, with its lock held. This object closes it.
  init(repairing descriptor: Int32, folder: OpenFolder, name: String) {
    self.folder = folder
    self.name = name
    current = descriptor
    isRepair = true
  }

  deinit {
    for descriptor in [current, nextDescriptor] where descriptor >= 0 { close(descriptor) }
  }

  /// Replaces the sidecar with `document`.
  func write(_ document: Sidecar) throws(TakeError) {
    let bytes = document.encoded()
    try prepare(room: bytes.count)
    // A short write does not set errno.
    errno = ENOSPC
    guard pwrite(nextDescriptor, bytes, bytes.count, 0) == bytes.count,
      ftruncate(nextDescriptor, off_t(bytes.count)) == 0,
      fdatasync(nextDescriptor) == 0
    else { throw failure(errno) }
    nextRoom = bytes.count
    guard folder.has(partName, as: current) else {
      throw TakeError("\(folder.path(of: partName)) was removed or replaced during the take")
    }
    guard folder.rename(nextName, to: partName) == 0 else { throw failure(errno) }
    close(current)
    (current, nextDescriptor) = (nextDescriptor, -1)
    // Allocate space for the next version, which may be longer. A failure is reported when the space is needed.
    try? prepare(room: bytes.count)
  }

  /// Ensures that there is a locked file for the next version, with `room` bytes allocated.
  private func prepare(room: Int) throws(TakeError) {
    if nextDescriptor < 0 {
      nextDescriptor = folder.create(nextName)
      // A file left by a crash has the space that a full disk may no longer provide.
      if nextDescriptor < 0, errno == EEXIST, isRepair { nextDescriptor = folder.open(nextName, O_RDWR) }
      guard nextDescriptor >= 0 else { throw failure(errno) }
      var information = stat()
      guard fstat(nextDescriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
        information.st_nlink == 1
      else {
        close(nextDescriptor)
        nextDescriptor = -1
        throw failure(EEXIST)
      }
      nextRoom = isRepair ? Int(information.st_size) : 0
      lockFault = lockFault ?? FileLock.acquire(nextDescriptor, timeout: .seconds(1)).fault
    }
    guard nextRoom < room else { return }
    let size = (room + 4096) / 16384 * 16384 + 16384
    let fault = posix_fallocate(nextDescriptor, 0, off_t(size))
    // Even if the allocation fails, the write may succeed.
    if fault == 0 { nextRoom = size }
  }

  /// Writes the sidecar for the last time.
  /// - Parameter named: whether to rename it to its final name. If false, or if that name is in use, it stays `.part`,
  ///   for `TakeFolder.repair`.
  func finish(_ document: Sidecar, named: Bool) throws(TakeError) {
    defer { removeNext() }
    do throws(TakeError) {
      try write(document)
    } catch {
      // No descriptor or no space for another file: overwrite the present one.
      let bytes = document.encoded()
      guard folder.has(partName, as: current), pwrite(current, bytes, bytes.count, 0) == bytes.count,
        ftruncate(current, off_t(bytes.count)) == 0, fdatasync(current) == 0
      else { throw error }
    }
    guard named else { return }
    guard folder.has(partName, as: current) else {
      throw TakeError("\(folder.path(of: partName)) was removed or replaced during the take")
    }
    guard folder.renameWithoutReplacing(partName, name) == 0 else { throw failure(errno) }
  }

  /// Removes all files of a take that never began.
  package func discard() {
    removeNext()
    folder.remove(partName, as: current)
  }

  private func removeNext() {
    guard nextDescriptor >= 0 else { return }
    folder.remove(nextName, as: nextDescriptor)
    close(nextDescriptor)
    nextDescriptor = -1
  }

  private func failure(_ reason: Int32) -> TakeError {
    TakeError("\(folder.path(of: name)) could not be written: \(String(cString: strerror(reason)))")
  }
}
