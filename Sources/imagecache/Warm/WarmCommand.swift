import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// Fills tables with the pictures of a folder.
struct WarmCommand: Command {
  static let name = "warm"

  static let grammar = ArgumentGrammar(
    command: "imagecache warm",
    summary: "Fills image tables with the pictures of a folder.",
    operands: [.init("FOLDER", help: "pictures, in the folders inside too")],
    options: [
      .value("--cache", "DIR", isRequired: true, help: "the folder for the tables"),
      .value(
        "--format", "NAME:WxH[:PIXELS[:DRAWING]]", isRequired: true, isRepeatable: true,
        help: """
          a table, its size in pixels, and
          PIXELS: bgra32 (the usual one), bgrx32, bgr16 or gray8
          DRAWING: aspectFill (the usual one), aspectFit, within, stretch or circle
          """),
      .value("--capacity", "N", help: "pictures a table holds (all that are found, and 16)"),
    ],
    discussion: """
      The formats of one call are drawn from one decode. `within` keeps each picture's proportions,
      up to the size; `aspectFit` centres it on transparent or black. A picture's id is its path in
      FOLDER. Pictures that are there already cost next to nothing; those whose file has changed, or
      the DRAWING, are drawn anew. Tables of earlier calls stay.

        imagecache warm ~/Pictures --cache tables --format row:200x200:bgrx32 \\
          --format page:1200x900:bgrx32:within
        imagecache inspect tables
      """)

  /// Names the tables' folder within the cache's.
  private static let namespace = "imagecache"

  private let folder: String
  private let cachePath: String
  private let formats: [FormatArgument]
  private let capacity: Int?

  init(_ arguments: Arguments) throws {
    folder = arguments.operands[0]
    cachePath = arguments.value("--cache") ?? ""
    formats = try arguments.values("--format").map { try FormatArgument($0) }
    capacity = try arguments.integer("--capacity", in: 1...TableCapacity.maximumSlotCount)
    var names: Set<String> = []
    for format in formats where !names.insert(format.name).inserted {
      throw UsageError("Two formats are named \"\(format.name)\".")
    }
  }

  func run() async throws -> ExitStatus {
    let photos = try PhotoRecognition.folder(folder)
    let directory = URL(filePath: cachePath, directoryHint: .isDirectory)
    // Without tables yet there is nothing to keep. Tables of other namespaces belong to their
    // caches.
    let own = directory.appending(path: try TableDirectory.safeName(for: Self.namespace))
    let known = try? TableFolder(own.path(percentEncoded: false))
    let formats = WarmFormats(
      self.formats, in: known, capacity: capacity, pictureCount: photos.photos.count)
    var configuration = ImageCache.Configuration()
    configuration.directory = directory
    let cache = try await ImageCache(
      namespace: Self.namespace, formats: formats.wanted + formats.others,
      configuration: configuration)
    let summary = await warm(photos, cache, formats.wanted)
    let areKept = await Self.keepPictures(of: cache)
    await cache.close()
    summary.tell()
    return summary.failures.isEmpty && areKept ? .success : .failure
  }

  /// Brings the tables to the disk; false if another program owns one of them and there is no guest
  /// file either: its new pictures are lost when this program ends.
  private static func keepPictures(of cache: ImageCache) async -> Bool {
    do {
      try await cache.flush()
      return true
    } catch {
      Console.note("imagecache: Not all pictures are kept. \(FailureText.text(of: error))")
      return false
    }
  }

  private func warm(
    _ folder: PhotoFolder, _ cache: ImageCache, _ formats: [ImageFormat]
  ) async -> WarmSummary {
    let layouts = Dictionary(uniqueKeysWithValues: self.formats.map { ($0.name, $0.layout) })
    let photos = folder.photos
    let progress = ProgressLine("warming", total: photos.count)
    progress.update(0)
    var summary = WarmSummary(pictureCount: photos.count, unreadable: folder.unreadable)
    // Wider than the count of cores, since the cache itself bounds the decodes.
    let width = ProcessInfo.processInfo.activeProcessorCount * 4
    await ConcurrentWork.forEach(photos, width: width) { photo in
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
    var outcome = WarmSummary.Outcome.alreadyThere
    for format in formats where cache.cachedImage(for: entity, format: format) == nil {
      do {
        let image = try await cache.image(for: entity, format: format)
        // Held meanwhile, so that no other picture takes its slot.
        let isStored = withExtendedLifetime(image) {
          cache.containsImage(for: entity, format: format)
        }
        guard isStored else {
          // It was drawn and found no room.
          return .failed("the table \"\(format.name)\" could not take it")
        }
        outcome = .stored
      } catch ImageCacheError.cancelled {
        return .cancelled
      } catch {
        return .failed(FailureText.text(of: error))
      }
    }
    return outcome
  }
}
