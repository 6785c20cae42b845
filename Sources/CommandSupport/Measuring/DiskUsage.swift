package import Foundation

/// Disk space of files: blocks, not lengths.
package enum DiskUsage {
  /// Bytes allocated for all regular files in a folder and the folders in it; 0 where there is none.
  package static func allocatedByteCount(in folder: URL) -> Int {
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    var sum = 0
    while let url = files?.nextObject() as? URL { sum += allocatedByteCount(of: url) }
    return sum
  }

  /// Bytes allocated for one file: `st_blocks` of stat(2), which counts in units of 512.
  package static func allocatedByteCount(of file: URL) -> Int {
    var status = stat()
    guard lstat(file.path(percentEncoded: false), &status) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { return 0 }
    return Int(status.st_blocks) * 512
  }
}
