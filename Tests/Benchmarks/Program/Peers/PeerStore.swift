import CBenchPeers
import FastImageCache
import Foundation

/// An open store of a peer, with a folder of its own.
final class PeerStore {
  /// The contests that a peer takes part in; the flags of the C declaration.
  struct Roles: OptionSet {
    let rawValue: Int
    static let handle = Roles(rawValue: BENCH_HANDLE)
    static let touch = Roles(rawValue: BENCH_TOUCH)
    static let store = Roles(rawValue: BENCH_STORE)
    static let open = Roles(rawValue: BENCH_OPEN)
    static let scroll = Roles(rawValue: BENCH_SCROLL)
    static let bytes = Roles(rawValue: BENCH_BYTES)
  }

  let name: String
  let roles: Roles
  /// Whether no store can do less.
  var isFloor: Bool { name == "C floor" }
  /// The images of one turn.
  let batch: Int
  private let peer: bench_store
  private var room: bench_room
  /// The memory of `room.folder`, as long as this object lives.
  private let path: UnsafeMutablePointer<CChar>
  private var handle: UnsafeMutableRawPointer?

  /// - Parameters:
  ///   - folder: Made if it is missing.
  ///   - reader: Reads what the peer obtains.
  init(
    _ peer: bench_store, folder: URL, layout: PixelLayout, capacity: Int,
    reader: @escaping bench_reader = bench_sum
  ) throws {
    self.peer = peer
    name = String(cString: peer.name)
    roles = Roles(rawValue: Int(peer.roles))
    batch = max(peer.batch, 1)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    guard let path = strdup(folder.path(percentEncoded: false)) else {
      throw BenchFailure(description: "There is no memory for a path.")
    }
    self.path = path
    room = bench_room(
      folder: path, capacity: capacity, width: layout.size.width, height: layout.size.height,
      row_bytes: layout.rowBytes, reader: reader)
    try reopen()
  }

  deinit {
    close()
    free(path)
  }

  func reopen() throws {
    close()
    handle = peer.open(&room)
    if handle == nil { throw BenchFailure(description: "\(name) cannot be opened.") }
  }

  func close() {
    if let handle { peer.close(handle) }
    handle = nil
  }

  func store(_ key: [UInt8], _ pixels: UnsafeRawBufferPointer) throws {
    guard peer.store(handle, key, pixels.baseAddress) == 0 else {
      throw BenchFailure(description: "\(name) did not take an image.")
    }
  }

  /// Obtains the images of keys that lie one after the other, and reads them if asked to.
  func get(_ keys: ArraySlice<UInt8>, reads: Bool) throws {
    let result = keys.withUnsafeBufferPointer {
      peer.get(handle, $0.baseAddress, keys.count / 16, reads ? 1 : 0)
    }
    guard result == 0 else {
      throw BenchFailure(description: "\(name) has lost an image, or it failed: \(result).")
    }
  }
}
