import CBenchPeers
import FastImageCache
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The peers of this run: the floors that are built in, and those of a shared library if one is
/// given.
struct PeerLibrary {
  private(set) var stores: [bench_store] = []
  private(set) var shrinkers: [bench_shrinker] = []
  private(set) var animators: [bench_animator] = []

  /// The shared library, if one is given.
  let path: String?

  /// - Parameter path: A shared library that exports `bench_more_peers`. It stays loaded, since the
  ///   structures point into it.
  init(path: String?) throws {
    self.path = path
    append(bench_floors().pointee)
    guard let path else { return }
    guard let library = dlopen(path, RTLD_NOW),
      let symbol = dlsym(library, "bench_more_peers")
    else {
      let reason = dlerror().map { String(cString: $0) } ?? "unknown"
      throw BenchFailure(description: "The peers in \"\(path)\" cannot be loaded: \(reason)")
    }
    // The type is that of CBenchPeers.h for this name, and the version is compared.
    let makePeers = unsafeBitCast(symbol, to: bench_more_peers_function.self)
    guard let peers = makePeers(), peers.pointee.version == BENCH_PEERS_VERSION else {
      throw BenchFailure(description: "The peers in \"\(path)\" are of another version.")
    }
    append(peers.pointee)
  }

  func has(_ name: String) -> Bool { stores.contains { String(cString: $0.name) == name } }

  /// Opens a store of each peer with one of these roles, in folders below `place`.
  func open(
    _ roles: PeerStore.Roles, in place: URL, layout: PixelLayout, capacity: Int,
    reader: @escaping bench_reader = bench_sum
  ) throws -> [PeerStore] {
    try stores.enumerated().compactMap { index, peer in
      guard !roles.isDisjoint(with: .init(rawValue: Int(peer.roles))) else { return nil }
      return try PeerStore(
        peer, folder: Self.folder(index, in: place), layout: layout, capacity: capacity,
        reader: reader)
    }
  }

  /// Opens the store of one peer where the other function has put it.
  func open(
    named name: String, in place: URL, layout: PixelLayout, capacity: Int
  ) throws -> PeerStore {
    guard let index = stores.firstIndex(where: { String(cString: $0.name) == name }) else {
      throw BenchFailure(description: "There is no peer \"\(name)\".")
    }
    return try PeerStore(
      stores[index], folder: Self.folder(index, in: place), layout: layout, capacity: capacity)
  }

  private static func folder(_ index: Int, in place: URL) -> URL {
    place.appending(path: "peer-\(index)")
  }

  /// One line on each: its name, and why it is a fair peer.
  var descriptions: [(name: String, reason: String)] {
    stores.map { (String(cString: $0.name), String(cString: $0.reason)) }
      + shrinkers.map { (String(cString: $0.name), String(cString: $0.reason)) }
      + animators.map { (String(cString: $0.name), String(cString: $0.reason)) }
  }

  private mutating func append(_ peers: bench_peers) {
    for index in 0..<peers.store_count {
      if let store = peers.stores[index] { stores.append(store.pointee) }
    }
    for index in 0..<peers.shrinker_count {
      if let shrinker = peers.shrinkers[index] { shrinkers.append(shrinker.pointee) }
    }
    for index in 0..<peers.animator_count {
      if let animator = peers.animators[index] { animators.append(animator.pointee) }
    }
  }
}
