import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// `--cache`, `--format`, `--capacity`, `--decode-memory` and `--damaged`: the tables that a call fills, and with what.
struct WantedTables {
  static func options(capacityHelp: String) -> [ArgumentGrammar.Option] {
    [
      .value("--cache", "DIR", isRequired: true, help: "the folder for the tables"),
      .value(
        "--format", FormatArgument.form, isRequired: true, isRepeatable: true,
        help: """
          a table and the size of its images in pixels
          PIXELS: bgra32 (the usual one), bgrx32, bgr16 or gray8
          DRAWING: aspectFill (the usual one), aspectFit, within, stretch or circle
          QUALITY: balanced (the usual one) or best, from more of a photograph's pixels
          COLORS: sRGB (the usual ones) or displayP3
          animated: all frames of images that move, if those of one take 16M at
          most, or BYTES as in animated=64M; else the first frame is kept
          """),
      .value("--capacity", "N", help: "images a table holds (\(capacityHelp))"),
      .value(
        "--damaged", "POLICY",
        help: """
          images that are cut short or damaged within:
          refuse (the usual one) or show, as far as they are there
          """),
      .value(
        "--decode-memory", "BYTES",
        help: "the most memory that decodes may take together (256M)"),
    ]
  }

  /// Names the tables' folder within the cache's.
  private static let namespace = "imagecache"

  let directory: URL

  /// By the names of the formats.
  let layouts: [String: FormatArgument.Layout]

  private let formats: [FormatArgument]
  private let capacity: Int?
  private let damagedImages: DamagedImagePolicy
  private let decodeByteCount: Int?

  init(_ arguments: Arguments) throws {
    directory = try URL(argument: arguments.value("--cache") ?? "", directoryHint: .isDirectory)
    formats = try arguments.values("--format").map { try FormatArgument($0) }
    capacity = try arguments.integer("--capacity", in: 1...TableCapacity.maximumSlotCount)
    decodeByteCount = try arguments.byteCount("--decode-memory", from: 1 << 20)
    switch arguments.value("--damaged") {
    case nil, "refuse": damagedImages = .refuse
    case "show": damagedImages = .showPart
    case let other?: throw UsageError("--damaged takes refuse or show, not \"\(other)\".")
    }
    var layouts: [String: FormatArgument.Layout] = [:]
    for format in formats where layouts.updateValue(format.layout, forKey: format.name) != nil {
      throw UsageError("Two formats are named \"\(format.name)\".")
    }
    self.layouts = layouts
  }

  /// Whether a table keeps the frames of animations.
  var haveAnimations: Bool { formats.contains { $0.animationByteLimit != nil } }

  /// Opens the tables, and those of earlier calls.
  ///
  /// - Parameters:
  ///   - imageCount: Images that shall find room if the call does not say.
  ///   - frameCount: Frames of these, in a table of animations.
  ///   - keepsOthers: Whether they shall find it beside those that are there.
  ///   - configuration: Its directory and policy for damaged images are not used.
  /// - Returns: The cache, and its formats that the call wants.
  func open(
    for imageCount: Int, frameCount: Int, keepsOthers: Bool = false,
    _ configuration: ImageCache.Configuration
  ) async throws -> (cache: ImageCache, formats: [ImageFormat]) {
    // Without tables yet there is nothing to keep. Tables of other namespaces belong to their
    // caches.
    let own = directory.appending(path: try TableDirectory.safeName(for: Self.namespace))
    let known = try? TableFolder(own.path(percentEncoded: false))
    let formats = WarmFormats(
      self.formats, in: known, capacity: capacity, imageCount: imageCount,
      frameCount: frameCount, keepsOthers: keepsOthers)
    var configuration = configuration
    configuration.directory = directory
    configuration.requiresStorage = true
    configuration.damagedImages = damagedImages
    if let decodeByteCount {
      configuration.limits.workingByteCount = decodeByteCount
      configuration.resources = LoadResources(decodeByteBudget: decodeByteCount)
    }
    do {
      let cache = try await ImageCache(
        namespace: Self.namespace, formats: formats.wanted + formats.others,
        configuration: configuration)
      return (cache, formats.wanted)
    } catch ImageCacheError.diskFull {
      throw CommandFailure("The disk of \(own.path) is full.")
    }
  }

  /// Why a drawn image is not in its table.
  static func refusal(of format: ImageFormat, in cache: ImageCache) -> String {
    "the table \"\(format.name)\" could not take it"
      + (cache.storeFailure(in: format).map { ": \($0)" } ?? "")
  }

  /// Brings the tables to the disk; false if another program owns one of them and there is no guest
  /// file either: its new images are lost when this program ends.
  static func keepImages(of cache: ImageCache) async -> Bool {
    do {
      try await cache.flush()
      return true
    } catch {
      Console.note("imagecache: Not all images are kept. \(FailureText.text(of: error))")
      return false
    }
  }
}

extension FormatArgument.Layout? {
  /// A format up to a size leaves no choice: the image keeps its proportions.
  var drawing: Drawing {
    switch self {
    case .aspectFit: .aspectFit
    case .stretch: .stretch
    case .circle: .aspectFill(corners: .ellipse)
    case .aspectFill, .within, nil: .aspectFill
    }
  }
}
