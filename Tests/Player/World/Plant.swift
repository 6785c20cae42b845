/// Faults that a walk is to find: in the world, in the model's eyes, or in the calls between.
package enum Plant: String, CaseIterable, Sendable {
  // A source answers
  case otherPicture = "another entity's picture"
  case otherAccount = "another account's picture"
  case oldPicture = "what the picture was five changes ago"
  case halfPicture = "half a picture"
  case keptTag = "a changed picture with the former entity tag"
  case noAnswer = "never"

  // A call is not passed on
  case lostRemoval = "no removal"
  case lostRefresh = "no refresh"
  case lostMark = "no mark of what is stale"
  case lostStore = "no store by hand"
  case lostMove = "no move of images"
  case lostSignOut = "no removal of an account's originals"
  case lostAccount = "no account in a request"
  case lostVersion = "the former version in a request"
  case lostCancel = "no end of a request that was given up"
  case deafNeighbour = "no removal by another process"
  case sharedHand = "no account with a picture by hand"
  case keptLease = "no end of an image that was shown"

  // The world
  case stoppedClock = "a clock that stands"
  case keptImage = "a view that keeps its image"
  case secondFetch = "a second fetch for each"
  case lostEvent = "events that are not told"
  case leftBody = "a body without a row"
  case leftDescriptor = "a descriptor that stays open"
}

extension Plant {
  /// The oracles that find the fault; a find of another's does not count.
  package var finders: Set<Finds.Kind> {
    switch self {
    // A source that cannot be decoded, or that fails; alone, or in a list.
    case .halfPicture: [.wrongPicture, .wrongAnswer, .wrongCount]
    case .noAnswer: [.hung]
    // A step waits for the end of a lifetime.
    case .stoppedClock: [.wrongPicture, .hung]
    case .secondFetch, .lostEvent: [.wrongCount]
    case .lostCancel, .keptLease, .leftBody, .leftDescriptor: [.leftover]
    default: [.wrongPicture]
    }
  }

  /// The fault that has this name in the code.
  package init?(name: String) {
    guard let plant = Plant.allCases.first(where: { "\($0)" == name }) else { return nil }
    self = plant
  }
}
