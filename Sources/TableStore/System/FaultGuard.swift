import CMappedFiles
import Dispatch

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Lets the process outlive the loss of pages that a table has mapped.
package enum FaultGuard {
  /// Begins to handle SIGBUS; once is enough for a process, and further calls change nothing.
  ///
  /// From then on a page that is lost because another process cut the file reads as zeros. A moment
  /// later each table whose file was cut goes on with a new file that has the rest.
  ///
  /// - Throws: `TableError.system` when there is no descriptor left, or no handler can be
  ///   installed.
  package static func install() throws(TableError) {
    let descriptor = fic_guard_install()
    guard descriptor != -2 else {
      throw .system(SystemError(call: .handle, code: errno), path: "the fault guard")
    }
    guard descriptor >= 0 else { return }
    let queue = DispatchQueue(label: "FastImageCache.faults")
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler {
      drain(descriptor)
      TableRegistry.shared.mendAll()
    }
    source.activate()
    // The guard lasts as long as the process, and so does this source; nothing cancels it.
    _ = Unmanaged.passRetained(source as AnyObject)
  }

  private static func drain(_ descriptor: Int32) {
    withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { bytes in
      while read(descriptor, bytes.baseAddress, bytes.count) > 0 {}
    }
  }
}
