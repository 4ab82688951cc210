import AudioFiles
import Foundation

/// A sidecar on disk while its take runs, NAME.json.part, whose creation also claims the take's name.
///
/// It is replaced as a whole, never written over: what is new goes into NAME.json.part.next, which then takes its name.
/// The room for that is taken beforehand, before the sound can fill the disk. Both files are locked, the next one before
/// it gets the name, so that whoever repairs takes sees at any moment that this one is being written; the kernel lets go
/// of the locks however that ends.
final class SidecarFile {
  private let folder: OpenFolder
  private let name: String
  private var part: String { name + ".part" }
  private var next: String { part + ".next" }
  private var current: Int32
  /// The file of the next version; negative where there is none.
  private var spare: Int32 = -1
  private var spareRoom = 0
  private var isRepair = false
  /// Why others cannot tell that the take is being written; nil where they can.
  private(set) var lockFault: String?

  /// Nil where another take has claimed the name.
  init?(folder: OpenFolder, name: String) throws(TakeError) {
    self.folder = folder
    self.name = name
    current = folder.create(name + ".part")
    guard current < 0 else {
      lockFault = FileLock.take(current, patience: .seconds(1)).fault
      return
    }
    let reason = errno
    if reason == EEXIST { return nil }
    throw TakeError("cannot write \(folder.path(of: name)).part: \(String(cString: strerror(reason)))")
  }

  /// The sidecar that a crash left.
  /// - Parameter descriptor: of NAME.json.part, whose lock is ours; closed with this.
  init(repairing descriptor: Int32, folder: OpenFolder, name: String) {
    self.folder = folder
    self.name = name
    current = descriptor
    isRepair = true
  }

  deinit {
    for descriptor in [current, spare] where descriptor >= 0 { close(descriptor) }
  }

  /// Replaces the sidecar by `document`.
  func write(_ document: Sidecar) throws(TakeError) {
    let bytes = document.encoded()
    try prepare(room: bytes.count)
    // A write that ends early does not say why.
    errno = ENOSPC
    guard pwrite(spare, bytes, bytes.count, 0) == bytes.count, ftruncate(spare, off_t(bytes.count)) == 0,
      fdatasync(spare) == 0
    else { throw failure(errno) }
    spareRoom = bytes.count
    guard folder.has(part, as: current) else {
      throw TakeError("\(folder.path(of: part)) was removed or exchanged while the take ran")
    }
    guard folder.rename(next, to: part) == 0 else { throw failure(errno) }
    close(current)
    (current, spare) = (spare, -1)
    // Room for the next version, and for what it will say more. Where there is none, that is told when it is missed.
    try? prepare(room: bytes.count)
  }

  /// Makes sure that there is a locked file for the next version, with room on disk.
  private func prepare(room: Int) throws(TakeError) {
    if spare < 0 {
      spare = folder.create(next)
      // What a crash left has the room that a full disk may not give any more.
      if spare < 0, errno == EEXIST, isRepair { spare = folder.open(next, O_RDWR) }
      guard spare >= 0 else { throw failure(errno) }
      var information = stat()
      guard fstat(spare, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
        information.st_nlink == 1
      else {
        close(spare)
        spare = -1
        throw failure(EEXIST)
      }
      spareRoom = isRepair ? Int(information.st_size) : 0
      lockFault = lockFault ?? FileLock.take(spare, patience: .seconds(1)).fault
    }
    guard spareRoom < room else { return }
    let size = (room + 4096) / 16384 * 16384 + 16384
    let fault = posix_fallocate(spare, 0, off_t(size))
    // The write itself may still fit.
    if fault == 0 { spareRoom = size }
  }

  /// Writes it for the last time.
  /// - Parameter named: gives it its name unless somebody else has taken that; otherwise it stays `.part`, for
  ///   `TakeFolder.repair`.
  func finish(_ document: Sidecar, named: Bool) throws(TakeError) {
    defer { removeSpare() }
    do throws(TakeError) {
      try write(document)
    } catch {
      // No descriptor, or no room, for a next file: rather written over than not written.
      let bytes = document.encoded()
      guard folder.has(part, as: current), pwrite(current, bytes, bytes.count, 0) == bytes.count,
        ftruncate(current, off_t(bytes.count)) == 0, fdatasync(current) == 0
      else { throw error }
    }
    guard named else { return }
    guard folder.has(part, as: current) else {
      throw TakeError("\(folder.path(of: part)) was removed or exchanged while the take ran")
    }
    guard folder.renameToFree(part, name) == 0 else { throw failure(errno) }
  }

  /// The take never began: leaves no file.
  func discard() {
    removeSpare()
    folder.remove(part, as: current)
  }

  private func removeSpare() {
    guard spare >= 0 else { return }
    folder.remove(next, as: spare)
    close(spare)
    spare = -1
  }

  private func failure(_ reason: Int32) -> TakeError {
    TakeError("\(folder.path(of: name)) could not be written: \(String(cString: strerror(reason)))")
  }
}
