import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// A decoded image, until hits find it.
struct Store: Scenario {
  static let id = "P6"
  static let name = "store"
  static let summary = """
    a decoded photo of the slot's size until hits find it, in a full table, against one pwrite(2) \
    of as many bytes over old ones, and against the stores of others: nobody waits for the device. \
    "Table alone" begins, as all others do, with pixels that are there, in the scratch memory that \
    drawing writes into: hash, claim, write, publish. "store()" is the public call with drawing \
    and two changes of thread, which the table alone is measured with too. Small photos in a large \
    and in a small table show whether the cost grows; beside them pages of files as large that \
    pwrite(2) writes over at random, which is what a store cannot do without
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let usual = try await compare(setting)
    let growth = try await grow(setting)
    return Findings(usual + growth)
  }

  private func compare(_ setting: BenchSetting) async throws -> [Measure] {
    let effort = setting.effort
    let gallery = try await Gallery(
      Self.name, count: effort.imageCount, side: 200, roles: [.store], setting: setting)
    let (cache, format, images) = (gallery.cache, gallery.format, gallery.hits.images)
    let bitmap = try setting.photographs.part(0, size: format.size)
    let table = try Gallery.table(of: cache, format)
    defer { table.close() }
    let byteCount = bitmap.layout.byteCount
    let file = try BenchFile(
      setting.place.url.appending(path: "pwrite"), pieceByteCount: byteCount)
    let pixels = [UInt8](repeating: 7, count: byteCount)
    // Room on the disk and pages in memory, as the table has them.
    try pixels.withUnsafeBytes { for piece in images.indices { try file.write(piece, from: $0) } }

    var contenders = [
      gallery.contender(batch: effort.storeBatch) { range in
        for index in range {
          // The last drawing is still there.
          try Gallery.insert(for: images[index], format.size, into: table) { _ in }
        }
      },
      Self.publicStore(gallery, bitmap, batch: effort.storeBatch),
      gallery.contender(batch: effort.storeBatch) { range in
        try pixels.withUnsafeBytes { for index in range { try file.write(index, from: $0) } }
      },
      Self.elsewhere(gallery, table, batch: effort.storeBatch),
    ]
    for peer in gallery.stores {
      contenders.append(
        gallery.contender(batch: min(peer.batch, effort.storeBatch)) { range in
          try bitmap.withUnsafeBytes { pixels in
            for index in range { try peer.store(images[index].key, pixels) }
          }
        })
    }
    let results = try await Contest(contenders).run(roundCount: min(effort.roundCount, 51))
    await gallery.close()
    let (alone, whole, write, elsewhere) = (results[0], results[1], results[2], results[3])
    let references =
      [("pwrite of the pixels", write)] + zip(gallery.stores.map(\.name), results.dropFirst(4))
    return references.flatMap { name, reference in
      let bar: Bar? = name.hasPrefix("pwrite") ? .ratioAtMost(2) : nil
      return [
        Measure(
          Self.id, "store, table alone", ours: alone, reference: reference, named: name, bar: bar),
        Measure(Self.id, "store()", ours: whole, reference: reference, named: name, bar: bar),
      ]
    } + [
      Measure(
        Self.id, "store, table alone, on another thread and back", ours: elsewhere,
        reference: write, named: "pwrite of the pixels")
    ]
  }

  /// The table's part on a queue's thread, and back. `store()` cannot be faster, since no task's
  /// thread may wait for a disk.
  private static func elsewhere(
    _ gallery: Gallery, _ table: Table, batch: Int
  ) -> Contest.Contender {
    let queue = DispatchQueue(label: "FastImageCache.bench")
    let size = gallery.format.size
    var turn = 0
    return Contest.Contender {
      let range = gallery.slice(turn: turn, count: batch)
      turn += 1
      return try await Contest.time(range.count) {
        for image in gallery.hits.images[range] {
          try await withCheckedThrowingContinuation { continuation in
            queue.async {
              continuation.resume(
                with: Result {
                  try Gallery.insert(for: image, size, into: table) { _ in }
                })
            }
          }
        }
      }
    }
  }

  private static func publicStore(
    _ gallery: Gallery, _ bitmap: Bitmap, batch: Int
  ) -> Contest.Contender {
    var turn = 0
    return Contest.Contender {
      let range = gallery.slice(turn: turn, count: batch)
      turn += 1
      return try await Contest.time(range.count) {
        for index in range {
          try await gallery.cache.store(
            bitmap, for: gallery.hits.images[index], format: gallery.format)
        }
      }
    }
  }

  private func grow(_ setting: BenchSetting) async throws -> [Measure] {
    let small = try await setting.smallGallery()
    let large = try await setting.largeGallery()
    let bitmap = try setting.photographs.part(0, size: small.format.size)
    let tables = try [small, large].map { try Gallery.table(of: $0.cache, $0.format) }
    defer { for table in tables { table.close() } }
    let stores = zip([small, large], tables).map { gallery, table in
      gallery.contender(batch: setting.effort.storeBatch) { range in
        for index in range {
          try Gallery.insert(bitmap, for: gallery.hits.images[index], into: table)
        }
      }
    }
    let writes = try [small, large].map { try Self.pageWrites($0, setting) }
    let results = try await Contest(stores + writes).run(
      roundCount: setting.effort.roundCount, warmUpCount: 5)
    let (few, many) = (small.hits.images.count, large.hits.images.count)
    return [
      Measure(
        Self.id, "store of 8 x 8, \(many) entries", ours: results[1], reference: results[0],
        named: "ours with \(few)", bar: .ratioAtMost(1.2)),
      Measure(
        Self.id, "pwrite of a page at random, \(many) of them", ours: results[3],
        reference: results[2], named: "\(few) of them"),
    ]
  }

  /// Pages written over, at random, in a file with as many pages as a table has slots: the
  /// reference for the growth of a store.
  private static func pageWrites(
    _ gallery: Gallery, _ setting: BenchSetting
  ) throws -> Contest.Contender {
    let count = gallery.hits.images.count
    let file = try BenchFile(
      setting.place.url.appending(path: "pages-\(count)"), pieceByteCount: 4096)
    let page = [UInt8](repeating: 7, count: 4096)
    try page.withUnsafeBytes { for piece in 0..<count { try file.write(piece, from: $0) } }
    let places = (0..<count).shuffled()
    return gallery.contender(batch: setting.effort.storeBatch) { range in
      try page.withUnsafeBytes { for index in range { try file.write(places[index], from: $0) } }
    }
  }
}
