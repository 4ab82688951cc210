import CLV2
import FasterKernels
import Glibc
import Threads

/// What LV2 hosts call first, with the folder of the bundle in which they found this library. Filters, and so the numbers of
/// ports, differ from bundle to bundle; one library serves all of them.
///
/// Thread: a host's main thread.
@_cdecl("lv2_lib_descriptor")
public func libraryDescriptor(
  _ bundle: UnsafePointer<CChar>?, _ features: UnsafePointer<UnsafePointer<LV2_Feature>?>?
) -> UnsafePointer<LV2_Lib_Descriptor>? {
  guard let bundle else { return nil }
  FasterKernels.register()
  let folder = String(cString: bundle)
  guard let uri = Bundle.lines(folder: folder)?.first else { return nil }
  stayLoaded()
  return UnsafePointer(Bundle(uri: uri).library)
}

/// Swift's runtime keeps addresses in this library, so it must stay when a host closes it.
private func stayLoaded() {
  var info = pinna_loaded_file()
  guard pinna_dladdr(#dsohandle, &info) != 0, let path = info.file else { return }
  _ = dlopen(path, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE)
}

/// What a host knows of a bundle: C structs in memory that lasts until the host's `cleanup`.
final class Bundle {
  /// The file with the plug-in's URI, and below it how many microphones and outputs its description has.
  static let uriFile = "uri"

  let library: UnsafeMutablePointer<LV2_Lib_Descriptor>
  private let plugin: UnsafeMutablePointer<LV2_Descriptor>
  private let uri: UnsafeMutablePointer<CChar>

  init(uri: String) {
    self.uri = strdup(uri)
    plugin = .allocate(capacity: 1)
    plugin.initialize(
      to: LV2_Descriptor(
        URI: UnsafePointer(self.uri), instantiate: Instance.instantiate, connect_port: Instance.connect,
        activate: Instance.activate, run: Instance.run, deactivate: nil, cleanup: Instance.cleanup,
        extension_data: Instance.extensionData))
    library = .allocate(capacity: 1)
    library.initialize(
      to: LV2_Lib_Descriptor(
        handle: nil, size: UInt32(MemoryLayout<LV2_Lib_Descriptor>.size),
        cleanup: { Unmanaged<Bundle>.fromOpaque($0!).release() },
        get_plugin: { handle, index in
          guard let handle, index == 0 else { return nil }
          return UnsafePointer(Unmanaged<Bundle>.fromOpaque(handle).takeUnretainedValue().plugin)
        }))
    library.pointee.handle = Unmanaged.passRetained(self).toOpaque()
  }

  deinit {
    library.deallocate()
    plugin.deallocate()
    free(uri)
  }

  /// The lines of that file; nil if it cannot be read.
  static func lines(folder: String) -> [String]? {
    SmallFile.text(path(uriFile, in: folder), limit: 1024)?.split(whereSeparator: \.isNewline).map {
      String($0)
    }
  }

  static func path(_ file: String, in folder: String) -> String {
    folder.hasSuffix("/") ? folder + file : "\(folder)/\(file)"
  }
}
