/// The file that names the namespace of a directory of tables, since a directory's own name is shortened
/// and hashed.
///
/// It begins with the magic of tables, so that it may be deleted like one. Its bytes follow from the name, so
/// that openers may write it at the same time, and any of them writes it anew when it was torn.
enum NamespaceFile {
  static let fileName = "namespace.imagenames"
  static let maximumByteCount = nameOffset + TableHeader.maximumNameByteCount + 8
  private static let nameOffset = 16

  static func bytes(naming name: String) -> [UInt8] {
    var bytes = TableHeader.magic + [0, 0, 0, 0]
    bytes.put(UInt32(name.utf8.count))
    bytes += name.utf8
    bytes.put(bytes.withUnsafeBytes { LaneHash.hash($0, seed: LaneHash.keys.0) })
    return bytes
  }

  /// Reads a name; `nil` for anything that `bytes(naming:)` does not make.
  static func name(in bytes: [UInt8]) -> String? {
    let text = bytes.dropFirst(nameOffset).dropLast(8)
    guard let name = String(validating: text, as: UTF8.self), self.bytes(naming: name) == bytes
    else { return nil }
    return name
  }
}

extension TableDirectory {
  /// Writes the file that names this directory's namespace, unless it is there.
  ///
  /// A file of that name with other content than a begun one is left as it is.
  package func writeNamespace(_ name: String) throws(TableError) {
    let bytes = NamespaceFile.bytes(naming: name)
    try TableError.wrapping(path + "/" + NamespaceFile.fileName) { () throws(SystemError) in
      let file: FileDescriptor
      if try system.status(of: NamespaceFile.fileName, in: descriptor) == nil {
        file = FileDescriptor(
          try system.openFile(NamespaceFile.fileName, in: descriptor, .creating))
      } else {
        file = FileDescriptor(
          try system.openFile(NamespaceFile.fileName, in: descriptor, .updating))
        let found = try system.read(
          file.value, count: NamespaceFile.maximumByteCount, at: 0)
        guard bytes.starts(with: found), found.count < bytes.count else { return }
      }
      try system.write(bytes, to: file.value, at: 0)
    }
  }

  /// Deletes the file that names this directory's namespace, if no table is left, and no guest of one: it makes the
  /// table anew.
  package func removeNamespace() throws(TableError) {
    guard try tableFileNames().isEmpty else { return }
    try TableError.wrapping(path) { () throws(SystemError) in
      let names = try system.names(in: descriptor)
      if names.contains(where: { Self.tableName(ofGuest: $0) != nil }) { return }
      _ = try remove(NamespaceFile.fileName)
    }
  }

  /// The namespace that this directory's file names; `nil` without one, and for one that was made for
  /// another directory.
  package var namespace: String? {
    path.split(separator: "/").last.flatMap {
      Self.namespace(of: descriptor, called: String($0), system)
    }
  }

  /// The namespaces of the directories in a folder, sorted; none where there is no folder.
  ///
  /// Makes and changes nothing. Links to directories are left out.
  package static func namespaces(
    in path: String, system: SystemCalls = .live
  ) throws(TableError) -> [String] {
    do throws(SystemError) {
      var names: [String] = []
      let folder: FileDescriptor
      do throws(SystemError) {
        // The folder itself may be a link, as for a cache.
        folder = FileDescriptor(try system.openDirectory(path + "/."))
      } catch  where error.isMissing {
        return []
      }
      for name in try system.names(in: folder.value) {
        // What is no directory, or closed to us, is no namespace of ours.
        guard let opened = try? system.openDirectory(path + "/" + name) else { continue }
        let directory = FileDescriptor(opened)
        if let found = namespace(of: directory.value, called: name, system) { names.append(found) }
      }
      return names.sorted()
    } catch {
      throw failure(error, at: path, system)
    }
  }

  private static func namespace(
    of directory: Int32, called folder: String, _ system: SystemCalls
  ) -> String? {
    // A file that cannot be read names nothing.
    guard let opened = try? system.openFile(NamespaceFile.fileName, in: directory, .reading)
    else { return nil }
    let file = FileDescriptor(opened)
    guard let status = try? system.status(of: file.value), status.isRegularFile, status.isPrivate,
      let bytes = try? system.read(
        file.value, count: NamespaceFile.maximumByteCount + 1, at: 0),
      let name = NamespaceFile.name(in: bytes), (try? safeName(for: name)) == folder
    else { return nil }
    return name
  }
}
