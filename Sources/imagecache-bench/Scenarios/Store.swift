import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// A decoded picture, until hits find it.
struct Store: Scenario {
  static let id = "P6"
  static let name = "store"
  static let summary = """
    a decoded picture of the slot's size until hits find it, in a full table, against one pwrite(2) \
    of as many bytes over old ones, and against the stores of others: nobody waits for the device. \
    "Table alone" begins, as all others do, with pixels that are there, in the scratch memory that \
    drawing writes into: hash, reserve, write, publish. "store()" is the public call with drawing \
    and two changes of thread. Small pictures in a large and in a small table show whether the \
    cost grows
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let usual = try await compare(setting)
    let growth = try await grow(setting)
    return Findings(usual + growth)
  }

  private func compare(_ setting: BenchSetting) async throws -> [Measure] {
    let effort = setting.effort
    let gallery = try await Gallery(
      Self.name, count: effort.pictureCount, side: 200, roles: [.store], setting: setting)
    let (cache, format, pictures) = (gallery.cache, gallery.format, gallery.hits.pictures)
    let bitmap = try setting.photographs.part(0, size: format.size)
    let table = try Gallery.table(of: cache, format)
    defer { table.close() }
    let byteCount = bitmap.layout.byteCount
    let file = try BenchFile(
      setting.place.url.appending(path: "pwrite"), pieceByteCount: byteCount)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
    defer { buffer.deallocate() }
    buffer.initializeMemory(as: UInt8.self, repeating: 7)
    // Room on the disk and pages in memory, as the table has them.
    for piece in pictures.indices { try file.write(piece, from: buffer) }

    var contenders = [
      gallery.contender(batch: effort.storeBatch) { range in
        for index in range {
          // Whatever was drawn last is there still.
          try Gallery.insert(for: pictures[index], format.size, into: table) { _ in }
        }
      },
      Self.publicStore(gallery, bitmap, batch: effort.storeBatch),
      gallery.contender(batch: effort.storeBatch) { range in
        for index in range { try file.write(index, from: buffer) }
      },
    ]
    for peer in gallery.stores {
      contenders.append(
        gallery.contender(batch: min(peer.batch, effort.storeBatch)) { range in
          try bitmap.withUnsafeBytes { pixels in
            for index in range { try peer.store(pictures[index].key, pixels) }
          }
        })
    }
    let results = try await Contest(contenders).run(roundCount: min(effort.roundCount, 51))
    await gallery.close()
    let names = ["pwrite of the pixels"] + gallery.stores.map(\.name)
    return zip(names, results.dropFirst(2)).flatMap { name, reference in
      let bar: Measure.Bar? = name.hasPrefix("pwrite") ? .ratioAtMost(2) : nil
      return [
        Measure(
          Self.id, "store, table alone", ours: results[0], reference: reference, named: name,
          bar: bar),
        Measure(
          Self.id, "store()", ours: results[1], reference: reference, named: name, bar: bar),
      ]
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
            bitmap, for: gallery.hits.pictures[index], format: gallery.format)
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
    let contest = Contest(
      zip([small, large], tables).map { gallery, table in
        gallery.contender(batch: setting.effort.storeBatch) { range in
          for index in range {
            try Gallery.insert(bitmap, for: gallery.hits.pictures[index], into: table)
          }
        }
      })
    let results = try await contest.run(roundCount: setting.effort.roundCount, warmUpCount: 5)
    return [
      Measure(
        Self.id, "store of 8 x 8, \(large.hits.pictures.count) entries", ours: results[1],
        reference: results[0], named: "ours with \(small.hits.pictures.count)",
        bar: .ratioAtMost(1.2))
    ]
  }
}
