/// Why a command that was called rightly could not do its work; one sentence that names what failed.
package struct CommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
