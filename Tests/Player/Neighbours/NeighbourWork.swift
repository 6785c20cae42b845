import FastImageCache
package import Foundation

/// The other process: a cache of the walk's folder that does what it is told, a command at a time.
package struct NeighbourWork {
  private let world: World
  private let session: Session
  private let entities: [PlayEntity]

  package init(_ start: NeighbourStart) async throws {
    world = try World(joining: start.folder, port: start.port)
    entities = PlayEntity.all(in: world)
    session = try await Session(
      Session.Plan.all[start.plan], in: world, Model(world.timeline, entities))
  }

  /// - Parameter answer: Called with the answer to each command.
  package func run(_ commands: AsyncStream<Data>, answer: (Data) -> Void) async throws {
    for await line in commands {
      let command = try JSONDecoder().decode(NeighbourCommand.self, from: line)
      world.learn(command.revisions, seconds: command.seconds)
      answer(try JSONEncoder().encode(await self.answer(to: command)))
    }
    await session.cache.close()
  }

  private func answer(to command: NeighbourCommand) async -> NeighbourAnswer {
    guard let format = PlayFormats.all.first(where: { $0.name == command.format }),
      let known = entities.first(where: { $0.number == command.entity[0] })
    else { return NeighbourAnswer(error: "an unknown command") }
    var entity = known
    entity.generation = command.entity[1]
    entity.version = command.entity[2]
    entity.revision = command.entity[3]
    do {
      if let number = command.own {
        let own = NeighbourEntity(number: number, subject: entity.subject, world: world)
        return try await run(command, own, nil, format)
      }
      return try await run(command, entity, entity.accountID, format)
    } catch {
      return NeighbourAnswer(error: "\(error)")
    }
  }

  private func run(
    _ command: NeighbourCommand, _ entity: some ImageEntity, _ account: AccountID?,
    _ format: ImageFormat
  ) async throws -> NeighbourAnswer {
    let (cache, originals) = (session.cache, session.originals)
    var answer = NeighbourAnswer()
    func show(_ image: CachedImage?) {
      guard let image else { return }
      (answer.hasImage, answer.cells) = (true, Mark(image)?.cells)
    }
    switch command.kind {
    case .request, .reload, .glance:
      var options = LoadOptions()
      options.account = account
      if command.kind == .reload { options.cachePolicy = .reload }
      if command.kind == .glance { options.storage = .none }
      let (image, report) = try await cache.load(entity, format: format, options: options)
      show(image)
      answer.isStored = report.isStored
      answer.isFetched = [.source, .network, .resumed, .revalidated].contains(report.origin)
    case .look: show(cache.cachedImage(for: entity, format: format))
    case .storeBitmap:
      show(try await cache.store(try hand(command).bitmap(), for: entity, format: format))
    case .storeData:
      show(
        try await cache.store(
          try world.files.data(of: hand(command), .png), for: entity, format: format,
          account: account,
          keepsOriginal: (entity as? PlayEntity)?.keepsHands ?? true))
    case .removeImage: try await cache.removeImage(for: entity, format: format)
    case .removeImages: try await cache.removeImages(for: entity)
    case .removeAllInFormat: try await cache.removeAllImages(in: format)
    case .refresh:
      answer.formats = cache.cachedFormats(for: entity).map(\.name)
      var options = LoadOptions()
      options.account = account
      _ = try await cache.refresh(entity, options: options)
    case .markStale: try await cache.markStale(entity)
    case .removeOriginal: try await originals?.remove(entity.originalID(for: format), for: account)
    case .removeEntitysOriginals:
      try await originals?.removeAll(of: entity.imageID, in: cache.namespace)
    case .removeAllOriginals: try await originals?.removeAll()
    case .signOut: if let account { try await originals?.removeAll(for: account) }
    case .flush: try await cache.flush()
    }
    return answer
  }

  private func hand(_ command: NeighbourCommand) -> Mark {
    Mark(
      subject: entities[command.entity[0]].subject.number, revision: command.hand ?? 0,
      maker: .hand)
  }
}
