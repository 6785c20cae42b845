import CommandSupport
import Foundation

/// Files that a call asks for.
enum OutputFile {
  /// - Throws: ``CommandFailure`` that names the file.
  static func write(_ data: Data, to file: URL) throws(CommandFailure) {
    do {
      try data.write(to: file, options: .atomic)
    } catch {
      throw CommandFailure("\(file.path) cannot be written: \(reason(of: error)).")
    }
  }

  /// What the system says to an error of Foundation.
  static func reason(of error: any Error) -> String {
    let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
    guard let cause = cause.map({ $0 as NSError }), cause.domain == NSPOSIXErrorDomain,
      let code = Int32(exactly: cause.code)
    else { return error.localizedDescription }
    return Console.text(ofSystemError: code)
  }
}
