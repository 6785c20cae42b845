import Foundation

/// How an https server shows who it is.
@nonexhaustive public enum ServerTrust: Hashable, Sendable {
  /// By a certificate that the system trusts, or that ``HTTPOptions/certificateFile`` does.
  case system

  /// By such a certificate, whose public key besides is one of these.
  ///
  /// ```swift
  /// var http = HTTPOptions()
  /// http.serverTrust = .pinned([
  ///   "sha256//YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg=",  // today's key
  ///   "sha256//Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys=",  // the next one
  /// ])
  /// ```
  ///
  /// A key is `sha256//`, and in base64 the SHA-256 of the certificate's public key:
  ///
  /// ```sh
  /// openssl s_client -connect HOST:443 </dev/null | openssl x509 -pubkey -noout |
  ///   openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
  /// ```
  ///
  /// It holds for all https servers of the source, so also for those that a redirect leads to. A server with another
  /// key gets no request, and the load ends with ``ImageSourceError/serverNotTrusted(_:)``. A key that is written
  /// otherwise, and an empty list, let no https request pass (``ImageSourceError/network(_:)``).
  case pinned([String])
}

extension ServerTrust {
  private static let prefix = "sha256//"

  /// The hashes of public keys, checked; `nil` where any key will do.
  ///
  /// Checked, since libcurl takes what has no prefix for the name of a file.
  func pins() throws(ImageSourceError) -> [Data]? {
    guard case .pinned(let keys) = self else { return nil }
    let hashes = keys.compactMap { key in
      key.hasPrefix(Self.prefix)
        ? Data(base64Encoded: String(key.dropFirst(Self.prefix.count))) : nil
    }
    guard !keys.isEmpty, hashes.count == keys.count, hashes.allSatisfy({ $0.count == 32 }) else {
      throw .network(
        "Each key of HTTPOptions.serverTrust has to be \(Self.prefix) and 32 bytes in base64.")
    }
    return hashes
  }
}
