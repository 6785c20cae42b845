import FastImageCache
import TableStore

/// The images of a table, each animation one of them, and what is damaged; reads the whole file.
struct ImageScan {
  struct Image {
    let entry: TableEntryInfo
    /// What the image's slot tells of frames behind the first.
    let motion: SlotMotion
    let metadataByteCount: Int
    /// Frames that are there, the first included.
    let intactFrameCount: Int
  }

  /// In the order of slots.
  let images: [Image]
  /// Damaged slots, and what they held.
  let damages: [(slot: Int, text: String)]

  /// Slots with intact pixels: images, their frames, and frames whose first one is gone.
  let frameCount: Int

  init(_ table: TableFolder.Table) {
    let (entries, damages) = table.reader.scan()
    frameCount = entries.count
    let frames = Set(entries.filter(\.isFrame).compactMap(Self.key))
    images = entries.filter { !$0.isFrame }.map { entry in
      let (motion, metadata) =
        table.hasAnimations ? SlotMotion.parting(entry.metadata) : (.still, entry.metadata[...])
      return Image(
        entry: entry, motion: motion, metadataByteCount: metadata.count,
        intactFrameCount: 1 + motion.frameKeys(of: entry).count { frames.contains($0) })
    }
    self.damages = Self.named(damages, images)
  }

  private static func named(
    _ damages: [TableDamage], _ images: [Image]
  ) -> [(slot: Int, text: String)] {
    var names: [TableID: String] = [:]
    if damages.contains(where: { $0.entity?.known?.isFrame == true }) {
      for image in images {
        for (index, key) in zip(1..., image.motion.frameKeys(of: image.entry)) {
          names[key.entity] = "frame \(index) of \(image.entry.entity)"
        }
      }
    }
    return damages.map { damage in
      guard let entity = damage.entity else { return (damage.slot, "an image") }
      guard let frame = entity.known, frame.isFrame else {
        return (damage.slot, "the image of \(entity)")
      }
      return (damage.slot, names[frame] ?? "a frame of an animation")
    }
  }

  private static func key(of frame: TableEntryInfo) -> TableKey? {
    guard let entity = frame.entity.known, let version = frame.version.known else { return nil }
    return TableKey(entity: entity, version: version)
  }
}

extension SlotMotion {
  /// The keys of the frames behind the first one.
  func frameKeys(of first: TableEntryInfo) -> [TableKey] { frameKeys { first.frame($0) } }

  /// - Parameter frame: The entity of a frame.
  func frameKeys(_ frame: (Int) -> TableID) -> [TableKey] {
    guard case .stored(let motion) = self else { return [] }
    return (1..<motion.timeline.frameCount).map { motion.key(of: frame($0)) }
  }
}
