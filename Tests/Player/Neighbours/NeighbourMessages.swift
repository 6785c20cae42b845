package import Foundation

/// What another process needs to play on a walk's folder.
package struct NeighbourStart: Sendable {
  package let folder: URL
  /// Of the walk's server.
  package let port: Int
  /// Among ``Session/Plan/all``.
  package let plan: Int

  package init(folder: URL, port: Int, plan: Int) {
    (self.folder, self.port, self.plan) = (folder, port, plan)
  }
}

/// What a neighbour is told to do, with all of the world that it needs for that.
struct NeighbourCommand: Codable, Sendable {
  enum Kind: String, Codable, CaseIterable, Sendable {
    case request, reload, look
    /// A request that stores nothing.
    case glance
    case storeBitmap, storeData, removeImage, removeImages, removeAllInFormat, refresh, markStale
    case removeOriginal, removeEntitysOriginals, removeAllOriginals, signOut, flush
  }

  var kind: Kind
  /// Its number, its generation, its version and its revision.
  let entity: [Int]
  /// The number of an image that only neighbours ask for; the entity tells its subject then.
  var own: Int?
  let format: String
  /// The number of a picture by hand.
  var hand: Int?
  /// The revision of each subject.
  let revisions: [Int]
  /// For how long time has passed in steps.
  let seconds: Double
}

/// What a neighbour saw.
struct NeighbourAnswer: Codable, Sendable {
  /// The mark's cells; `nil` for no picture or no mark.
  var cells: [Bool]?
  var hasImage = false
  var isStored = false
  /// Whether its source was asked.
  var isFetched = false
  /// The formats of which there were images.
  var formats: [String] = []
  var error: String?

  var mark: Mark? { cells.flatMap { Mark(cells: $0) } }
}
