#if !canImport(Darwin)
  package import Foundation

  /// An https server on this machine with a certificate that it signs itself: openssl(1) as a child process.
  ///
  /// Every path of one letter has the answer `a`.
  package final class TLSServer: Sendable {
    /// The folder with `certificate.pem` and `certificate.der`.
    package let folder: URL
    /// The hash of the public key as ``ServerTrust`` writes it.
    package let pin: String
    private let port: Int
    private let process: SpawnedProcess

    /// - Parameter algorithm: What `openssl req` makes a key of.
    package init(in folder: URL, algorithm: String = "ec -pkeyopt ec_paramgen_curve:P-256")
      async throws
    {
      try Data("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na".utf8)
        .write(to: folder.appending(path: "a"))
      // timeout(1) ends a server whose test has crashed.
      let script = """
        set -e
        cd "$0"
        openssl req -x509 -newkey \(algorithm) -nodes -keyout key.pem -out certificate.pem -days 2 \
          -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null
        openssl x509 -in certificate.pem -outform der -out certificate.der
        openssl x509 -in certificate.pem -pubkey -noout | openssl pkey -pubin -outform der |
          openssl dgst -sha256 -binary | base64
        exec timeout 600 openssl s_server -accept 127.0.0.1:0 -cert certificate.pem -key key.pem -HTTP \
          2>/dev/null
        """
      let output = Pipe()
      process = try SpawnedProcess(
        ["/bin/sh", "-c", script, folder.path], environment: ProcessInfo.processInfo.environment,
        output: output.fileHandleForWriting.fileDescriptor, errors: 2)
      try output.fileHandleForWriting.close()
      // Reading blocks, which threads of the concurrency pool must not.
      let text = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          var text = ""
          while !text.contains("ACCEPT") || text.last != "\n" {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
          }
          continuation.resume(returning: text)
        }
      }
      let lines = text.split(separator: "\n")
      guard let first = lines.first, let last = lines.last,
        let port = Int(last.split(separator: ":").last ?? "")
      else { throw CocoaError(.executableLoad) }
      self.folder = folder
      self.port = port
      pin = "sha256//\(first)"
    }

    deinit {
      kill(process.number, SIGTERM)
      _ = process.waitUntilExit()
    }

    package var url: URL {
      get throws {
        guard let url = URL(string: "https://127.0.0.1:\(port)/a") else { throw URLError(.badURL) }
        return url
      }
    }
  }
#endif
