import CommandSupport
import FastImageCache
import Foundation

/// Fills tables with the images of a folder.
struct WarmCommand: Command {
  static let name = "warm"

  static let grammar = ArgumentGrammar(
    command: "imagecache warm",
    summary: "Fills image tables with the images of a folder.",
    operands: [.init("FOLDER", help: "images, in the folders inside too")],
    options: WantedTables.options(capacityHelp: "all that are found, or their frames, and 16"),
    discussion: """
      The formats of one call are drawn from one decode. `within` keeps each image's proportions,
      up to the size; `aspectFit` centres it on transparent or black. An image's id is its path in
      FOLDER. Images that are there already cost next to nothing; those whose file has changed, or
      the DRAWING, are drawn anew. A table starts afresh when its size, PIXELS, QUALITY or COLORS
      change, or whether it is animated. Tables of earlier calls stay.

      Each frame of an animation takes as much of the table as an image, and counts in --capacity.

        imagecache warm ~/Pictures --cache tables --format row:200x200:bgrx32 \\
          --format page:1200x900:bgrx32:within
        imagecache warm stickers --cache tables --format sticker:160x160:bgra32:within:animated
        imagecache inspect tables
      """)

  private let folder: String
  private let tables: WantedTables

  init(_ arguments: Arguments) throws {
    folder = arguments.operands[0]
    tables = try WantedTables(arguments)
  }

  func run() async throws -> ExitStatus {
    let photos = try PhotoRecognition.folder(folder)
    let (cache, formats) = try await tables.open(
      for: photos.photos.count,
      frameCount: tables.haveAnimations ? PhotoRecognition.frameCount(of: photos.photos) : 0,
      ImageCache.Configuration())
    let summary = await warm(photos, cache, formats)
    // After Ctrl-C decodes go on for a moment, though nobody waits any more.
    await cache.loadsHaveEnded()
    let areKept = await WantedTables.keepImages(of: cache)
    await cache.close()
    summary.tell()
    return summary.failures.isEmpty && areKept ? .success : .failure
  }

  private func warm(
    _ folder: PhotoFolder, _ cache: ImageCache, _ formats: [ImageFormat]
  ) async -> WarmSummary {
    let photos = folder.photos
    let progress = ProgressLine("warming", total: photos.count)
    progress.update(0)
    var summary = WarmSummary(imageCount: photos.count, unreadable: folder.unreadable)
    // Wider than the count of cores, since the cache itself bounds the decodes.
    let width = ProcessInfo.processInfo.activeProcessorCount * 4
    await ConcurrentWork.forEach(photos, width: width) { [layouts = tables.layouts] photo in
      let entity = WarmPhoto(photo: photo, layouts: layouts)
      return (photo.path, await Self.bring(entity, cache, formats))
    } collect: { path, outcome in
      summary.add(outcome, path: path)
      progress.update(summary.doneCount)
    }
    progress.end()
    return summary
  }

  private static func bring(
    _ entity: WarmPhoto, _ cache: ImageCache, _ formats: [ImageFormat]
  ) async -> WarmSummary.Outcome {
    var (isStored, notes) = (false, [String]())
    for format in formats {
      // This call's limit and table may have room for frames that were left out.
      let isStreamed = cache.cachedImage(for: entity, format: format)?.motion.isUnkept == true
      if !isStreamed, cache.hasIntactFrames(of: entity, format: format) { continue }
      do {
        let animation = try await cache.animation(for: entity, format: format)
        // Held meanwhile, so that no other image takes a slot of it.
        let isThere = withExtendedLifetime(animation) {
          cache.containsImage(for: entity, format: format)
        }
        guard isThere, !(animation.isStreamed && !animation.image.motion.isUnkept) else {
          // It was drawn and found no room, or a frame of it did not.
          return .failed(WantedTables.refusal(of: format, in: cache))
        }
        if animation.isStreamed {
          notes.append(
            "its first frame only: the table \"\(format.name)\" has no room for "
              + "\(animation.frameCount) frames, or they are more than \"animated\" allows")
        }
        isStored = isStored || !(isStreamed && animation.isStreamed)
      } catch ImageCacheError.cancelled {
        return .cancelled
      } catch {
        return .failed(FailureText.text(of: error))
      }
    }
    return isStored ? .stored(notes) : .alreadyThere(notes)
  }
}
