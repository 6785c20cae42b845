extension TableDirectory {
  /// Opens every table in the directory for reading, with any owner, in the order of file names.
  package func tables() throws(TableError) -> [TableReader] {
    // Files that cannot be read are left out, for any reason.
    try tableFileNames().compactMap {
      (try? TableReader.open($0, in: self, expecting: nil, system: system)) ?? nil
    }
  }

  /// The tables of a namespace, for reading; none where it has no folder.
  package static func tables(
    of namespace: String, in path: String, system: SystemCalls = .live
  ) throws(TableError) -> [TableReader] {
    let folder = path + "/" + (try safeName(for: namespace))
    do throws(SystemError) {
      _ = FileDescriptor(try system.openDirectory(folder))
    } catch  where error.isMissing {
      return []
    } catch {
      throw failure(error, at: folder, system)
    }
    return try TableDirectory(path: folder, system: system).tables()
  }
}
