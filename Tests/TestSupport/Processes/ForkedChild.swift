import Foundation
import Locking

/// Runs `body` in a child of fork(2).
///
/// - Returns: The code that it ends with, which is 1 after an error; `nil` where nothing forks.
package func exitCodeOfFork(_ body: () throws -> Int32) -> Int32? {
  // Swift hides fork(2) itself.
  typealias Fork = @convention(c) () -> pid_t
  guard let symbol = dlsym(LinkedSymbols.everywhere, "fork") else { return nil }
  let child = unsafeBitCast(symbol, to: Fork.self)()
  if child == 0 { _exit((try? body()) ?? 1) }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  return status >> 8 & 0xff
}
