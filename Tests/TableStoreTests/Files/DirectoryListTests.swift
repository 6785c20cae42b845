import Testing

@testable import TableStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("The names in a directory")
struct DirectoryListTests {
  @Test("are not taken for complete when reading them fails")
  func failure() throws {
    for code in [0, EIO] {
      var item = dirent()
      withUnsafeMutableBytes(of: &item.d_name) { $0.copyBytes(from: Array("a\0".utf8)) }
      let result = withUnsafeMutablePointer(to: &item) { item in
        var (count, names) = (0, [String]())
        return Result { () throws(SystemError) in
          let next = { () -> UnsafeMutablePointer<dirent>? in
            count += 1
            // As malloc(3) may leave it, between two calls.
            if count == 1 { errno = ENOMEM }
            if count == 2 { errno = code }
            return count == 1 ? item : nil
          }
          try SystemCalls.forEachName(next) { names.append($0) }
          return names
        }
      }
      #expect((try? result.get()) == (code == 0 ? ["a"] : nil))
    }
  }
}
