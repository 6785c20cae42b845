import FastImageCache
import Foundation

/// What the walk asks for: a subject's picture under an id of its own.
struct PlayEntity: ImageEntity, Hashable, CustomStringConvertible {
  /// How an entity names versions and originals.
  enum Naming: Hashable, Sendable {
    /// The URL is the version.
    case address
    /// A number that the program raises when it hears of a change.
    case explicit
    /// As `explicit`; addresses of several sizes lead to one original.
    case variants
  }

  let number: Int
  let subject: Subject
  let naming: Naming
  /// 0 for none.
  let account: Int
  /// How often its id was changed.
  var generation = 0
  /// The explicit version.
  var version = 0
  /// The revision that a data URL holds.
  var revision = 0
  let world: World

  static func == (one: Self, other: Self) -> Bool {
    one.number == other.number && one.generation == other.generation
      && one.version == other.version && one.revision == other.revision
  }

  func hash(into hasher: inout Hasher) { hasher.combine(number) }

  /// Ids of all kinds.
  var imageID: ImageID {
    let code = number + 1000 * generation
    return switch number % 4 {
    case 0: ImageID("entity \(code)")
    case 1: ImageID(code)
    case 2:
      ImageID(
        UUID(
          uuid: (
            1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, UInt8(code >> 8 & 255), UInt8(code & 255)
          )))
    default: ImageID(URL(fileURLWithPath: "/entities/\(code)"))
    }
  }

  func sourceURL(for format: ImageFormat) -> URL? {
    let isLarge = naming == .variants && format.size.width > 20
    return world.url(of: subject, revision: revision, query: isLarge ? "side=128" : nil)
  }

  func versionID(for format: ImageFormat) -> ImageID {
    // Each entity's own: one name of an address's version means one picture, whoever says it.
    naming == .address
      ? defaultVersionID(for: format) : ImageID("version \(version) of \(number)")
  }

  func originalID(for format: ImageFormat) -> ImageID {
    guard naming != .variants else { return ImageID("original \(subject.number)") }
    return sourceURL(for: format).map { ImageID($0) } ?? imageID
  }

  func drawing(for format: ImageFormat) -> Drawing {
    number.isMultiple(of: 5) ? .aspectFit : .aspectFill
  }

  func prerendersFamily(_ family: String) -> Bool { !number.isMultiple(of: 7) }

  var placeholderHash: PlaceholderHash? {
    number.isMultiple(of: 4) ? .blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj") : nil
  }

  func providedImage(for format: ImageFormat) async throws -> ImageSourceResponse? {
    guard subject.scheme == .own else { return nil }
    return try await world.answer(for: subject, account: 0)
  }

  /// Whether pictures by hand are kept as originals.
  var keepsHands: Bool { number.isMultiple(of: 2) }

  var hasHeaders: Bool { number % 6 == 5 }
  var hasDecoderSettings: Bool {
    number % 6 == 4 || [.data, .nested].contains(subject.scheme) && subject.number % 2 == 0
  }
  var savesNetwork: Bool { number % 8 == 7 }

  /// Whether its requests have no condition but the account, which would keep their loads apart.
  var takesPlainOptions: Bool { !hasHeaders && !hasDecoderSettings && !savesNetwork }

  var needsNoOptions: Bool { account == 0 && takesPlainOptions }

  var accountID: AccountID? { account == 0 ? nil : AccountID("account \(account)") }

  var description: String {
    var words = "entity \(number) (\(subject.scheme) \(subject.number)"
    if naming != .address { words += ", \(naming) \(version)" }
    if account > 0 { words += ", account \(account)" }
    if generation > 0 { words += ", id \(generation)" }
    return words + ")"
  }
}

extension PlayEntity {
  /// The entities of each subject: one that knows the address only, and for some subjects one with versions, one for
  /// each account, or one whose addresses are variants.
  static func all(in world: World) -> [PlayEntity] {
    var entities: [PlayEntity] = []
    func add(_ subject: Subject, _ naming: Naming, account: Int = 0) {
      entities.append(
        PlayEntity(
          number: entities.count, subject: subject, naming: naming, account: account, world: world))
    }
    for subject in Subject.all {
      add(subject, .address)
      if subject.scheme != .data, subject.number % 3 == 1 { add(subject, .explicit) }
      if [.http, .play].contains(subject.scheme), subject.number % 2 == 0 {
        add(subject, .address, account: 1)
        add(subject, .address, account: 2)
      }
      if subject.scheme == .http, subject.number % 4 == 3 { add(subject, .variants) }
    }
    return entities
  }
}
