#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Locking
  import Pixels
  import Synchronization

  /// A transform from a profile's colours to a ``ColorSpace``, by Little CMS, relative colorimetric with black
  /// point compensation.
  ///
  /// `@unchecked Sendable` is safe because the transform never changes: it is built without Little
  /// CMS's one-pixel cache, and freed with this object.
  private final class LCMSTransform: @unchecked Sendable {
    private let transform: OpaquePointer

    init(_ transform: OpaquePointer) { self.transform = transform }

    deinit { fic_color_close(transform) }

    func apply(_ pixels: UnsafeMutablePointer<UInt8>, pixelCount: Int, to space: ColorSpace) {
      fic_color_apply(transform, pixels, pixelCount, space.code)
    }
  }

  /// The conversion from one embedded profile to each ``ColorSpace``.
  ///
  /// Invariant: there is a transform to sRGB, which is one to every space for inks and for gray; another one is
  /// built before an image in its space is drawn for the first time.
  final class LCMSConversion: ColorConversion {
    enum Kind {
      case gray, rgb
      /// Four inks as JPEG files store them: 0 is full.
      case cmyk
      /// Gray that is decoded to blue, green and red, since it has alpha.
      case grayAsColor

      fileprivate var code: fic_color_kind {
        switch self {
        case .gray: .gray
        case .grayAsColor: .grayAsColor
        case .rgb: .rgb
        case .cmyk: .cmyk
        }
      }
    }

    /// The way from the profile to Display P3.
    private final class Wide: Sendable {
      /// The profile is Display P3's.
      let isUnchanged: Bool
      /// `nil` where nothing changes, and for a profile that leads to no space but sRGB.
      let transform: LCMSTransform?

      init(isUnchanged: Bool, transform: LCMSTransform?) {
        self.isUnchanged = isUnchanged
        self.transform = transform
      }
    }

    let kind: Kind
    private let profile: Data
    private let toSRGB: LCMSTransform
    /// Each row of a drawing asks for it, on threads that must hold no lock of other loads.
    private let wide = AtomicLazyReference<Wide>()

    /// `nil` for a profile that is sRGB already, is broken, or is not of that kind: the image's
    /// numbers then count as sRGB.
    ///
    /// Throws `outOfMemory` rather than have that said of a profile that was not read.
    init?(profile: Data, kind: Kind) throws(ImageDecodingError) {
      let made = Self.transform(from: profile, kind, to: .sRGB)
      if made.status == .outOfMemory { throw .outOfMemory }
      guard let transform = made.transform else { return nil }
      self.kind = kind
      self.profile = profile
      toSRGB = transform
    }

    func convert(
      _ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat, to space: ColorSpace
    ) {
      precondition(
        format == .gray8
          ? kind == .gray : (kind == .rgb || kind == .grayAsColor) && format.bytesPerPixel == 4,
        "A conversion of \(kind) pixels was given \(format) pixels.")
      convert(pixels.assumingMemoryBound(to: UInt8.self), pixelCount: pixelCount, to: space)
    }

    /// Converts in place; four inks become blue, green, red and 255.
    func convert(
      _ pixels: UnsafeMutablePointer<UInt8>, pixelCount: Int, to space: ColorSpace
    ) {
      guard space != .sRGB, kind == .rgb else {
        return toSRGB.apply(pixels, pixelCount: pixelCount, to: space)
      }
      guard let wide = wide.load() else {
        preconditionFailure("The conversion to \(space) was not prepared.")
      }
      if wide.isUnchanged { return }
      if let transform = wide.transform {
        transform.apply(pixels, pixelCount: pixelCount, to: space)
      } else {
        toSRGB.apply(pixels, pixelCount: pixelCount, to: .sRGB)
        SpaceConversion(from: .sRGB).convert(
          pixels, pixelCount: pixelCount, format: .bgrx32, to: space)
      }
    }

    /// Two threads that build the same transform waste one of them.
    func prepare(for space: ColorSpace) -> Bool {
      guard space != .sRGB, kind == .rgb, wide.load() == nil else { return true }
      let (status, transform) = Self.transform(from: profile, kind, to: .displayP3)
      if status == .outOfMemory { return false }
      let isUnchanged = status == .ok && transform == nil
      _ = wide.storeIfNil(Wide(isUnchanged: isUnchanged, transform: transform))
      return true
    }

    /// Whether the profile's colours are Display P3's already; known once that space is prepared.
    var isOfDisplayP3: Bool { wide.load()?.isUnchanged ?? false }

    private static func transform(
      from profile: Data, _ kind: Kind, to space: ColorSpace
    ) -> (status: fic_status, transform: LCMSTransform?) {
      profile.withUnsafeBytes { bytes in
        guard let start = bytes.start else { return (.damaged, nil) }
        var transform: OpaquePointer?
        let status = fic_color_create(start, bytes.count, kind.code, space.code, &transform)
        return (status, transform.map { LCMSTransform($0) })
      }
    }
  }

  extension ColorSpace {
    fileprivate var code: fic_color_space {
      switch self {
      case .sRGB: .sRGB
      case .displayP3: .displayP3
      }
    }
  }

  extension LCMSConversion {
    /// Building a transform takes some milliseconds, and the images of one camera share theirs.
    private static let known = Lock(KnownConversions())

    /// The conversion for a profile, built at its first use.
    ///
    /// Throws `outOfMemory`, which is not remembered: the next image may find memory.
    static func shared(
      profile: Data?, kind: Kind
    ) throws(ImageDecodingError) -> LCMSConversion? {
      guard let profile else { return nil }
      return try shared(profile, kind) { profile }
    }

    /// The conversion for a profile that is made when it is needed for the first time.
    ///
    /// - Parameter key: The same for equal profiles, and for these only.
    static func shared(
      _ key: Data, _ kind: Kind, makeProfile: () throws(ImageDecodingError) -> Data?
    ) throws(ImageDecodingError) -> LCMSConversion? {
      if let known = known.withLock({ $0.find(key, kind) }) { return known.conversion }
      // Outside of the lock, which other threads need meanwhile. Two threads that build the same
      // transform waste one of them.
      var conversion: LCMSConversion?
      if let profile = try makeProfile() {
        conversion = try LCMSConversion(profile: profile, kind: kind)
      }
      known.withLock { $0.add(key, kind, conversion) }
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
