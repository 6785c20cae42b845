/// The images that a load draws from its decode once its requests are answered: those missing of the requests' family
/// and, where the image has changed, the entities' other images of the same source.
struct LoadFamily {
  /// Whether images are drawn that their tables have, since they show what the image was before.
  let replaces: Bool

  /// What is left to be drawn.
  private(set) var requests: [ImageRequest] = []

  /// The images that were drawn anew; empty where none is replaced.
  private var drawn: Set<ImageKey> = []

  init(replaces: Bool) { self.replaces = replaces }

  var isEmpty: Bool { requests.isEmpty }

  /// Adds the family of requests that are drawn now, as far as the load shows its versions.
  mutating func add(_ asked: [ImageRequest], of load: Load, isKept: Bool) {
    requests += asked.flatMap { $0.siblings() }.filter { load.shows($0, isKept: isKept) }
    guard replaces else { return }
    requests += asked.flatMap { $0.outdated() }.filter { load.shows($0, isKept: isKept) }
    drawn.formUnion(asked.map(\.key))
    requests.removeAll { drawn.contains($0.key) }
  }

  /// Takes the next image that is to be drawn and may be stored.
  mutating func next(from image: SourceImage) -> ImageRequest? {
    while !requests.isEmpty {
      let request = requests.removeFirst()
      let isWanted = replaces ? drawn.insert(request.key).inserted : !request.isStored
      if isWanted, image.mayBeStored(for: request.key.entity) { return request }
    }
    return nil
  }
}
