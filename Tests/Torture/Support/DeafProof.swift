import CInterposer
import CommandSupport
import Locking
import TableStore

/// A planted fault: the proof of a slot gets the image's right content instead of the file's, as
/// if slots had no hash.
///
/// `@unchecked Sendable` is safe: the contents are written before the object is handed out.
final class DeafProof: @unchecked Sendable {
  private var contents: [ImageVersion: UnsafeMutableRawBufferPointer] = [:]

  /// Records the content that a table writes for each image.
  init(_ catalogue: Catalogue) throws {
    let written = Lock<[UInt8]>([])
    let system = SystemCalls { call throws(SystemError) in
      guard call.kind == .write, let bytes = call.bytes,
        bytes.count == TableFolder.contentByteCount
      else { return }
      let copy = Array(bytes)
      written.withLock { $0 = copy }
    }
    let folder = try TableFolder()
    let table = try folder.open(slots: 1, system: system)
    for image in catalogue.images {
      try table.store(image, in: catalogue)
      guard !written.withLock({ $0.isEmpty }) else {
        throw CommandFailure("A slot's content is not \(TableFolder.contentByteCount) bytes.")
      }
      let bytes = UnsafeMutableRawBufferPointer.allocate(
        byteCount: TableFolder.contentByteCount, alignment: 64)
      bytes.copyBytes(from: written.withLock { $0 })
      contents[image] = bytes
    }
    table.close()
  }

  deinit {
    for bytes in contents.values { bytes.deallocate() }
  }

  /// Runs `body`, in which every slot that is read seems to hold this image.
  func answering<Result>(_ image: ImageVersion, _ body: () -> Result) -> Result {
    let bytes = contents[image]
    interposer_answer_reads(bytes?.baseAddress, bytes?.count ?? 0)
    defer { interposer_answer_reads(nil, 0) }
    return body()
  }
}
