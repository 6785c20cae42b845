#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Locking
  import Pixels

  /// The conversion from one embedded profile to sRGB, by Little CMS, relative colorimetric with
  /// black point compensation.
  ///
  /// `@unchecked Sendable` is safe because the transform never changes: it is built without Little
  /// CMS's one-pixel cache, and freed with this object.
  final class LCMSConversion: ColorConversion, @unchecked Sendable {
    enum Kind {
      case gray, rgb, cmyk, invertedCMYK
      /// Gray that is decoded to blue, green and red, since it has alpha.
      case grayAsColor

      var isInk: Bool { self == .cmyk || self == .invertedCMYK }

      fileprivate var code: fic_color_kind {
        switch self {
        case .gray: .gray
        case .grayAsColor: .grayAsColor
        case .rgb: .rgb
        case .cmyk: .cmyk
        case .invertedCMYK: .invertedCMYK
        }
      }
    }

    let kind: Kind
    private let transform: OpaquePointer

    /// `nil` for a profile that is sRGB already, is broken, or is not of that kind: the picture's
    /// numbers then count as sRGB.
    init?(profile: Data, kind: Kind) {
      var isSRGB = false
      let transform = profile.withUnsafeBytes { bytes in
        bytes.start.flatMap { fic_color_create($0, bytes.count, kind.code, &isSRGB) }
      }
      guard let transform else { return nil }
      self.kind = kind
      self.transform = transform
    }

    deinit { fic_color_close(transform) }

    func convertToSRGB(
      _ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat
    ) {
      precondition(
        format == .gray8
          ? kind == .gray : (kind == .rgb || kind == .grayAsColor) && format.bytesPerPixel == 4,
        "A conversion of \(kind) pixels was given \(format) pixels.")
      convert(pixels.assumingMemoryBound(to: UInt8.self), pixelCount: pixelCount)
    }

    /// Converts in place; four inks become blue, green, red and 255.
    func convert(_ pixels: UnsafeMutablePointer<UInt8>, pixelCount: Int) {
      fic_color_apply(transform, pixels, pixelCount)
    }
  }

  extension LCMSConversion {
    /// Building a transform takes some milliseconds, and the pictures of one camera share theirs.
    private static let known = Lock(KnownConversions())

    /// The conversion for a profile, built at its first use.
    static func shared(profile: Data?, kind: Kind) -> LCMSConversion? {
      guard let profile else { return nil }
      if let known = known.withLock({ $0.find(profile, kind) }) { return known.conversion }
      // Outside of the lock, which other threads need meanwhile. Two threads that build the same
      // transform waste one of them.
      let conversion = LCMSConversion(profile: profile, kind: kind)
      known.withLock { $0.add(profile, kind, conversion) }
      return conversion
    }
  }

  /// The profiles used last, each with its conversion.
  ///
  /// Invariants:
  /// 1. `entries` are at most ``countLimit``, with at most ``byteLimit`` bytes of profiles.
  /// 2. The one used last stands at the end.
  struct KnownConversions {
    static let countLimit = 16
    static let byteLimit = 8 << 20

    struct Entry {
      let profile: Data
      let kind: LCMSConversion.Kind
      let conversion: LCMSConversion?
    }

    private(set) var entries: [Entry] = []
    private var byteCount = 0

    mutating func find(_ profile: Data, _ kind: LCMSConversion.Kind) -> Entry? {
      guard let index = entries.firstIndex(where: { $0.kind == kind && $0.profile == profile })
      else { return nil }
      let entry = entries.remove(at: index)
      entries.append(entry)
      return entry
    }

    mutating func add(
      _ profile: Data, _ kind: LCMSConversion.Kind, _ conversion: LCMSConversion?
    ) {
      guard find(profile, kind) == nil else { return }
      entries.append(Entry(profile: profile, kind: kind, conversion: conversion))
      byteCount += profile.count
      while entries.count > Self.countLimit || byteCount > Self.byteLimit {
        byteCount -= entries.removeFirst().profile.count
      }
    }
  }
#endif
