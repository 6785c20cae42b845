import Foundation
package import TableStore

// What a removal needs where no index can be trusted.
extension OriginalFolder {
  /// The names of originals and of partials, whole or not; reads no file.
  package func names() throws(TableError) -> (
    originals: Set<OriginalDigest>, partials: Set<OriginalDigest>
  ) {
    let names = try TableError.wrapping { () throws(SystemError) in
      try system.names(in: descriptor)
    }
    var (originals, partials): (Set<OriginalDigest>, Set<OriginalDigest>) = ([], [])
    for name in names {
      switch FolderName(name) {
      case .original(let digest): originals.insert(digest)
      case .content(let digest), .terms(let digest): partials.insert(digest)
      case .begun, .index, .other: continue
      }
    }
    return (originals, partials)
  }

  /// The length of an original's file; `nil` where there is none.
  func byteCount(of digest: OriginalDigest) throws(TableError) -> Int? {
    try TableError.wrapping { () throws(SystemError) in
      try system.status(of: digest.fileName, in: descriptor)?.byteCount
    }
  }

  /// Whose original stands under a name; `nil` where none proves itself.
  func label(ofOriginal digest: OriginalDigest) throws(TableError) -> OriginalLabel? {
    guard case .whole(let original) = try adopt(digest) else { return nil }
    return OriginalLabel(digest, original.facts.entity, audienceHash: original.audienceHash)
  }

  /// Whose partial stands under a name; `nil` where its terms do not prove themselves.
  func label(ofPartial digest: OriginalDigest) throws(TableError) -> OriginalLabel? {
    try partialHeader(digest).map { found in
      OriginalLabel(
        digest, found.trailer.facts.entity,
        audienceHash: found.trailer.subject.prefix(SHA256.byteCount))
    }
  }
}
