package import TableStore

/// What a sweep found under a name and left.
package struct SweptFile: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// A file under the name of an original; not read yet.
    case original(OriginalDigest)
    /// Both files of a partial, as one.
    case partial(OriginalDigest)
    case index
    /// Nothing that this folder made: it is neither read nor removed.
    case foreign
  }

  package let name: String
  package let kind: Kind
  /// The length of the file; of a partial, of both, the first rounded up.
  package let byteCount: Int
}

extension OriginalFolder {
  /// Deletes what a kill left that is nothing yet, and lists the rest, in no order.
  ///
  /// Files that were being written, and blocks without terms or terms without blocks, are deleted.
  /// Only the owner may call it, while it writes nothing else.
  package func sweep() throws(TableError) -> [SweptFile] {
    try TableError.wrapping { () throws(SystemError) in
      var found: [SweptFile] = []
      let names = Set(try system.names(in: descriptor))
      for name in names {
        // Gone by now.
        guard let status = try system.status(of: name, in: descriptor) else { continue }
        let isOurs = status.isRegularFile && status.isPrivate
        switch isOurs ? FolderName(name) : .other {
        case .original(let digest):
          found.append(
            SweptFile(name: name, kind: .original(digest), byteCount: status.byteCount))
        case .index:
          found.append(SweptFile(name: name, kind: .index, byteCount: status.byteCount))
        case .content(let digest) where names.contains(digest.fileName + PartialFile.termsSuffix):
          let terms = try system.status(
            of: digest.fileName + PartialFile.termsSuffix, in: descriptor)
          found.append(
            SweptFile(
              name: name, kind: .partial(digest),
              byteCount: RoomPlan.rounded(status.byteCount) + (terms?.byteCount ?? 0)))
        case .terms(let digest) where names.contains(digest.fileName + PartialFile.contentSuffix):
          // Counted with its blocks.
          continue
        case .content, .terms, .begun:
          // A file that cannot be deleted counts, and stops nothing.
          guard (try? system.unlink(name, in: descriptor)) == nil else { continue }
          found.append(SweptFile(name: name, kind: .foreign, byteCount: status.byteCount))
        case .other:
          found.append(SweptFile(name: name, kind: .foreign, byteCount: status.byteCount))
        }
      }
      return found
    }
  }
}

/// What the folder calls its files.
enum FolderName {
  case original(OriginalDigest)
  case content(OriginalDigest)
  case terms(OriginalDigest)
  case begun
  case index
  case other

  init(_ name: String) {
    let digest = { (suffix: String) in OriginalDigest(fileName: name.dropLast(suffix.count)) }
    self =
      if name == IndexFile.name {
        .index
      } else if let digest = OriginalDigest(fileName: name) {
        .original(digest)
      } else if name.hasSuffix(PartialFile.contentSuffix),
        let digest = digest(PartialFile.contentSuffix)
      {
        .content(digest)
      } else if name.hasSuffix(PartialFile.termsSuffix),
        let digest = digest(PartialFile.termsSuffix)
      {
        .terms(digest)
      } else if BegunName.isOne(name) {
        .begun
      } else {
        .other
      }
  }
}
