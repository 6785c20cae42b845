import FastImageCache
import Foundation
import Pixels

/// An image of one colour that tells its number, the kind of its requests and its version at the server.
struct LoadImage: Hashable, Sendable {
  static let numbers = 0..<8
  /// Versions are told apart up to this many.
  static let versionCount = 512
  static let size = PixelSize(width: 48, height: 48)
  /// The steps of a channel: more than a decoder's rounding.
  private static let step = 8

  let number: Int
  let kind: LoadKind
  /// Modulo ``versionCount``.
  let version: Int

  init(number: Int, kind: LoadKind, version: Int) {
    (self.number, self.kind) = (number, kind)
    self.version = version % Self.versionCount
  }

  /// The image of a colour; `nil` if there is none.
  init?(color: [UInt8]) {
    var code = 0
    for channel in color {
      let level = (Int(channel) + Self.step / 2) / Self.step
      guard level < 32, abs(level * Self.step - Int(channel)) <= 2 else { return nil }
      code = code << 5 | level
    }
    guard let kind = LoadKind(rawValue: code >> 9 & 7) else { return nil }
    self.init(number: code >> 12, kind: kind, version: code & 511)
  }

  /// Red, green, blue.
  var color: [UInt8] {
    let code = number << 12 | kind.rawValue << 9 | version
    return [code >> 10, code >> 5 & 31, code & 31].map { UInt8($0 * Self.step) }
  }

  func bitmap() throws -> Bitmap {
    guard let layout = PixelLayout(size: Self.size, format: .bgrx32) else {
      throw BitmapError.outOfMemory(byteCount: 0)
    }
    let color = color
    return try Bitmap(layout: layout) { bytes in
      for pixel in stride(from: 0, to: bytes.count, by: 4) {
        (bytes[pixel], bytes[pixel + 1], bytes[pixel + 2]) = (color[2], color[1], color[0])
        bytes[pixel + 3] = 255
      }
    }
  }
}

extension CachedImage {
  /// The first pixel: red, green, blue.
  var color: [UInt8] {
    withPixels { span in span.withUnsafeBytes { [$0[2], $0[1], $0[0]] } }
  }

  /// The image that is shown; `nil` where the pixels differ by more than rounding, or show none.
  var loadContent: LoadImage? {
    let pixels = withPixels { span in span.withUnsafeBytes { Array($0) } }
    for y in 0..<size.height {
      for x in 0..<size.width {
        let offset = y * layout.rowBytes + x * 4
        for channel in 0..<3
        where abs(Int(pixels[offset + channel]) - Int(pixels[channel])) > 2 { return nil }
      }
    }
    return LoadImage(color: color)
  }
}

/// Requests that share no load with those of another kind. Each has entities of its own for the same URLs.
enum LoadKind: Int, CaseIterable, Sendable {
  case plain, account, otherAccount, fields, constrained, local, kept

  /// That of the requests for which a source was asked.
  init(_ request: ImageSourceRequest) {
    switch (request.account, request.headers["X-Kind"], request.allowsConstrainedNetworkAccess) {
    case (AccountID("a"), nil, true): self = .account
    case (AccountID("b"), nil, true): self = .otherAccount
    case (nil, "1", true): self = .fields
    case (nil, nil, false): self = .constrained
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
    case .constrained: options.allowsConstrainedNetworkAccess = false
    case .local: options.scope = .local
    case .kept: options.scope = .cache
    }
    return options
  }

  /// The kind that the source sees: the scope is no field of its request.
  var seen: LoadKind { self == .local || self == .kept ? .plain : self }

  /// With a store, an original is shared by all who may see it; these tell their own apart.
  static let withOriginals: [LoadKind] = [.plain, .account, .otherAccount, .kept]
}

/// What the play asks for: an image of the server, for one kind of requests.
struct LoadEntity: ImageEntity, Hashable {
  let number: Int
  let kind: LoadKind

  var imageID: ImageID { ImageID("\(kind) \(number)") }
  /// Even numbers are local.
  func sourceURL(for format: ImageFormat) -> URL? {
    URL(string: number.isMultiple(of: 2) ? "torture:/\(number)" : "https://torture/\(number)")
  }
  func drawing(for format: ImageFormat) -> Drawing { .stretch }
}
