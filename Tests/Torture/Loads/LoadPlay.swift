import FastImageCache
import Foundation
import Pixels
import TestSupport

/// Requests of many tasks for images that change, each image compared.
struct LoadPlay: Sendable {
  private static let taskCount = 6
  /// Room for each image, so that only removals take one away.
  static let formats = [
    ImageFormat(
      name: "row", family: "loads", size: .exact(PixelSize(width: 16, height: 16)),
      pixelFormat: .bgrx32,
      capacity: 128),
    ImageFormat(
      name: "large", family: "loads", size: .exact(PixelSize(width: 32, height: 32)),
      pixelFormat: .bgrx32, capacity: 128),
  ]

  private let server: LoadServer
  private let findings: Findings
  private let kinds: [LoadKind]
  private let cache: ImageCache
  private let floors = LoadFloors()
  private let priorities = [
    RequestPriority(.low), RequestPriority(.medium), RequestPriority(.high),
  ]

  init(
    in folder: URL, _ server: LoadServer, _ findings: Findings, hasOriginals: Bool
  ) async throws {
    (self.server, self.findings) = (server, findings)
    kinds = hasOriginals ? LoadKind.withOriginals : LoadKind.allCases
    var configuration = ImageCache.Configuration()
    configuration.directory = folder
    configuration.source = server
    // Narrow, so that loads wait; previews do not rest.
    configuration.resources = LoadResources(
      decodeWidth: 2, networkWidth: 2, localWidth: 2, previewLoad: 1)
    if hasOriginals {
      configuration.originals = OriginalStore(directory: folder.appending(path: "originals"))
    }
    cache = try await ImageCache(
      namespace: "loads", formats: Self.formats, configuration: configuration)
  }

  /// Does so many operations, shared by the tasks, and closes the cache.
  func run(operations: Int, seed: UInt64) async throws {
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<Self.taskCount {
        group.addTask {
          var random = SplitMix64(state: seed &+ UInt64(task))
          for _ in 0..<operations / Self.taskCount where !Task.isCancelled {
            await operate(using: &random)
            findings.count("operations")
          }
        }
      }
    }
    if !Task.isCancelled, await !cache.isQuiet() { findings.report(.other, "loads are left") }
    await cache.close()
  }

  // MARK: Operations

  private func operate(using random: inout SplitMix64) async {
    let entity = randomEntity(using: &random)
    priorities.randomElement(using: &random)?.value =
      [.background, .low, .medium, .high].randomElement(using: &random) ?? .medium
    do {
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<35: await ask(entity, using: &random)
      case 35..<50: await follow(entity, using: &random)
      case 50..<60: await askTogether(entity.number, using: &random)
      case 60..<70: await cancel(entity, using: &random)
      case 70..<76: look(entity)
      case 76..<90: server.change(entity.number)
      case 90..<94:
        try await raisingFloors(of: entity) { try await cache.removeImages(for: entity) }
      case 94..<97: try await raisingFloors(of: entity) { try await cache.markStale(entity) }
      // A refresh asks on nobody's behalf, and keeps the original as its entity's.
      default: if entity.kind == .plain { try await cache.refresh(entity) }
      }
    } catch {
      note(error, of: entity)
    }
  }

  private func randomEntity(using random: inout SplitMix64) -> LoadEntity {
    LoadEntity(
      number: Int.random(in: LoadImage.numbers, using: &random),
      kind: kinds.randomElement(using: &random) ?? .plain)
  }

  private func randomFormat(using random: inout SplitMix64) -> ImageFormat {
    Self.formats.randomElement(using: &random) ?? Self.formats[0]
  }

  private func options(for entity: LoadEntity, using random: inout SplitMix64) -> LoadOptions {
    var options = entity.kind.options
    switch Int.random(in: -4...2, using: &random) {
    case 1: options.cachePolicy = .revalidate
    case 2: options.cachePolicy = .reload
    default: break
    }
    if Bool.random(using: &random) { options.priority = priorities.randomElement(using: &random) }
    return options
  }

  private func ask(_ entity: LoadEntity, using random: inout SplitMix64) async {
    await ask(
      entity, options(for: entity, using: &random), randomFormat(using: &random))
  }

  private func ask(
    _ entity: LoadEntity, _ options: LoadOptions, _ format: ImageFormat
  ) async {
    let (floor, now) = (floors[entity, format.name], server.version(of: entity.number))
    do {
      let (image, report) = try await cache.load(entity, format: format, options: options)
      let isReload = options.cachePolicy == .reload
      let version = check(image, entity, from: isReload ? max(floor, now) : floor, "\(options)")
      if let version, isReload, report.isStored { floors.raise(entity, format.name, to: version) }
      check(report, entity, options)
    } catch {
      note(error, of: entity)
    }
  }

  /// Several requests of different kinds for one URL, at the same time.
  private func askTogether(_ number: Int, using random: inout SplitMix64) async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        let kind = kinds.randomElement(using: &random) ?? .plain
        let entity = LoadEntity(number: number, kind: kind)
        let (options, format) = (
          options(for: entity, using: &random), randomFormat(using: &random)
        )
        group.addTask { await ask(entity, options, format) }
      }
    }
  }

  private func cancel(_ entity: LoadEntity, using random: inout SplitMix64) async {
    let (options, format) = (options(for: entity, using: &random), randomFormat(using: &random))
    let task = Task { await ask(entity, options, format) }
    for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
    task.cancel()
    await task.value
    findings.count("cancels")
  }

  /// Follows the steps of a load, perhaps not to its end.
  private func follow(_ entity: LoadEntity, using random: inout SplitMix64) async {
    var options = options(for: entity, using: &random)
    options.previews = PreviewPolicy()
    options.previews.delay = .zero
    options.previews.limit = Int.random(in: 1...4, using: &random)
    if Bool.random(using: &random) { options.cachePolicy = .reload }
    let format = randomFormat(using: &random)
    let floor = floors[entity, format.name]
    let patience = Int.random(in: 0..<12, using: &random)
    var (count, previewCount, isOver) = (0, 0, false)
    for await step in cache.progress(for: entity, format: format, options: options) {
      if isOver { findings.report(.other, "a step after the last one") }
      switch step {
      case .preview(let image, _):
        previewCount += 1
        findings.count("previews")
        if !image.isPrivate { findings.report(.other, "a preview in a table") }
        _ = check(image, entity, from: 0, "a preview")
      case .finished(let image):
        isOver = true
        _ = check(image, entity, from: floor, "followed, \(options)")
      case .failed(let error):
        isOver = true
        note(error, of: entity)
      default: break
      }
      count += 1
      if patience == 0, count == 3 { return }
    }
    if !isOver, !Task.isCancelled { findings.report(.other, "a stream without an end") }
    if previewCount > options.previews.limit {
      findings.report(.other, "\(previewCount) previews")
    }
  }

  private func look(_ entity: LoadEntity) {
    let floor = floors[entity, Self.formats[0].name]
    if let image = cache.cachedImage(for: entity, format: Self.formats[0]) {
      _ = check(image, entity, from: floor, "a hit")
    }
    if let (image, _) = cache.bestCachedImage(for: entity, format: Self.formats[0]) {
      _ = check(image, entity, from: 0, "the closest")
    }
  }

  /// Removes or marks an entity's images: those that were fetched before come back to no later request.
  private func raisingFloors(
    of entity: LoadEntity, _ change: () async throws -> Void
  ) async rethrows {
    let version = server.version(of: entity.number)
    try await change()
    // Its originals are another entity's.
    if entity.kind == .kept { return }
    for format in Self.formats { floors.raise(entity, format.name, to: version) }
  }

  // MARK: Checks

  /// - Parameter floor: The oldest version that it may be.
  /// - Returns: Its version.
  private func check(
    _ image: CachedImage, _ entity: LoadEntity, from floor: Int,
    _ context: @autoclosure () -> String
  ) -> Int? {
    findings.count("images compared")
    let now = server.version(of: entity.number)
    guard let photo = image.loadContent, photo.number == entity.number,
      photo.kind == entity.kind.seen
    else {
      let expected = LoadImage(number: entity.number, kind: entity.kind.seen, version: now)
      findings.report(
        .wrongImage, "\(image.color) and not \(expected.color) or older, \(entity), \(context())")
      return nil
    }
    // The newest of the versions that look like this.
    let version = now - (now - photo.version) % LoadImage.versionCount
    if version < floor {
      findings.report(.undead, "\(entity): \(version) and not \(floor), \(context())")
    }
    return version
  }

  private func check(_ report: LoadReport, _ entity: LoadEntity, _ options: LoadOptions) {
    let isRight =
      switch report.origin {
      case .table: options.cachePolicy == .useCache
      case .original: entity.kind == .kept || !entity.number.isMultiple(of: 2)
      case .revalidated: report.attemptCount > 0
      case .network: report.attemptCount > 0 && !entity.number.isMultiple(of: 2)
      case .source: report.attemptCount > 0 && entity.number.isMultiple(of: 2)
      case .resumed: report.attemptCount > 0 && report.resumedByteCount > 0
      default: false
      }
    if !isRight || entity.kind == .kept && report.attemptCount > 0 {
      findings.report(.other, "\(entity), \(options): \(report)")
    }
    findings.count("joined", report.isCoalesced ? 1 : 0)
  }

  private func note(_ error: any Error, of entity: LoadEntity) {
    switch error {
    case ImageCacheError.cancelled: findings.count("cancellations")
    case ImageCacheError.notCached where entity.kind == .kept || entity.kind == .local: break
    case ImageCacheError.sourceFailed(_, ImageSourceError.network("cut")): break
    default: findings.report(.other, "\(entity): \(error)")
    }
  }
}
