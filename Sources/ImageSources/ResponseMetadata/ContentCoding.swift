import Foundation

/// The codings of bodies that have come into use: RFC 9110 section 8.4.1.
enum ContentCoding: String, Sendable {
  case brotli = "br"
  case compress
  case deflate
  case gzip
  case zstandard = "zstd"

  /// Reads a field, in the order in which the codings were applied. Words that name no coding are skipped, as
  /// browsers do: servers send `UTF-8`, and stores of objects `aws-chunked`, with bytes as they are.
  static func list(_ field: String?) -> [ContentCoding] {
    (field ?? "").split(separator: ",").compactMap { word in
      let name = word.trimmingCharacters(in: .whitespaces).lowercased()
      return ContentCoding(rawValue: name.hasPrefix("x-") ? String(name.dropFirst(2)) : name)
    }
  }
}
