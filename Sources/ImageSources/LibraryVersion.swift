/// The version of the library, which the command and requests to web servers tell.
///
/// The newest section of `CHANGELOG.md` and the manifest in `README.md` name the same one, which a test checks.
package enum LibraryVersion {
  package static let text = "0.1.0"
}
