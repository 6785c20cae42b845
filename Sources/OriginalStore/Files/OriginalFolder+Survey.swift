import Foundation
package import TableStore

/// What a survey finds under the name of an original.
package enum SurveyedFile {
  case original(OriginalDigest, ProvenOriginal)
  case partial(OriginalDigest, SurveyedPartial)
  /// An original that does not prove itself, or a partial without terms that do.
  case damaged(OriginalDigest, isPartial: Bool)
}

/// A partial whose terms prove themselves.
package struct SurveyedPartial: Sendable {
  package let id: TableID
  package let facts: OriginalFacts
  /// The bytes of the content that prove themselves.
  package let contentByteCount: Int
  /// The bytes of both files.
  package let byteCount: Int
  /// Whether a block is not the one that was written.
  package let isDamaged: Bool
}

extension OriginalFolder {
  /// Whether a folder with files of these names is a store's.
  package static func isStore(_ names: some Sequence<String>) -> Bool {
    names.contains(IndexFile.name)
  }

  /// Reads all originals and partials, one after the other, and proves every byte of them; changes nothing,
  /// and disturbs no owner.
  ///
  /// What is gone meanwhile, and what a killed process had only begun, is left out.
  package func survey(_ visit: (SurveyedFile) throws -> Void) throws {
    let (originals, partials) = try names()
    for digest in originals.sorted(by: { $0.fileName < $1.fileName }) {
      switch try adopt(digest) {
      case .missing: continue
      case .damaged: try visit(.damaged(digest, isPartial: false))
      case .whole(let original): try visit(.original(digest, original))
      }
    }
    for digest in partials.sorted(by: { $0.fileName < $1.fileName }) {
      if let found = try surveyPartial(digest) { try visit(found) }
    }
  }

  private func surveyPartial(_ digest: OriginalDigest) throws(TableError) -> SurveyedFile? {
    let name = digest.fileName
    // The terms first: the block of each of their hashes is there.
    guard
      case .bytes(let terms) = try readFile(
        name + PartialFile.termsSuffix, upTo: PartialHeader.maximumByteCount),
      !terms.isEmpty,
      case .bytes(let content) = try readFile(
        name + PartialFile.contentSuffix, upTo: OriginalFile.maximumByteCount)
    else { return nil }
    guard let header = terms.withUnsafeBytes({ PartialHeader(reading: $0, under: digest) }),
      let id = header.trailer.id
    else { return .damaged(digest, isPartial: true) }
    let proven = content.withUnsafeBytes { content in
      terms.withUnsafeBytes { header.wholeBlockCount(content, $0) }
    }
    return .partial(
      digest,
      SurveyedPartial(
        id: id, facts: header.trailer.facts, contentByteCount: proven * PartialFile.blockByteCount,
        byteCount: content.count + terms.count,
        isDamaged: terms.count >= header.hashOffset(proven + 1)))
  }
}
