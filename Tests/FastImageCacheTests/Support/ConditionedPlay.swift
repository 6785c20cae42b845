import Foundation
import Locking
import TestSupport

@testable import FastImageCache

/// Kinds of requests that share no load, each with an entity of its own: whoever gets the image of
/// another kind has joined where it must not.
enum Kind: Int, CaseIterable {
  case plain, account, otherAccount, fields, unconstrained, inexpensive, local, kept

  init(_ request: ImageSourceRequest) {
    let scope = (request.permit as? ReachingPermit)?.scope
    switch (request.account, request.headers["X-Kind"], request.avoids, scope) {
    case (AccountID("a"), nil, [], .network): self = .account
    case (AccountID("b"), nil, [], .network): self = .otherAccount
    case (nil, "1", [], .network): self = .fields
    case (nil, nil, .constrained, .network): self = .unconstrained
    case (nil, nil, [.constrained, .expensive], .network): self = .inexpensive
    case (nil, nil, [], .local): self = .local
    case (nil, nil, [], .cache): self = .kept
    default: self = .plain
    }
  }

  var options: LoadOptions {
    var options = LoadOptions()
    switch self {
    case .plain: break
    case .account: options.account = AccountID("a")
    case .otherAccount: options.account = AccountID("b")
    case .fields: options.headers = ["X-Kind": "1"]
    case .unconstrained: options.avoids = .constrained
    case .inexpensive: options.avoids = [.constrained, .expensive]
    case .local: options.scope = .local
    case .kept: options.scope = .cache
    }
    return options
  }

  func photo(_ number: Int = 0) -> Photo {
    Photo(ImageID("\(rawValue) \(number)"), url: "test:/\(number)")
  }

  /// What the source draws for the kind.
  func pixelNumber(_ number: Int = 0) -> Int { 1 + rawValue + 16 * number }
}
