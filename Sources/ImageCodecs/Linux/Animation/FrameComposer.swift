#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// Draws the frames of an animation on their canvas, one after the other.
  ///
  /// The canvas is transparent before the first frame, whatever background a file names, as in browsers.
  ///
  /// Invariants:
  /// 1. `canvas` is what the next frame is drawn on, but for the rectangle of `cleared`, which is transparent. It is a
  ///    bitmap that was given away, so it is copied and never changed.
  /// 2. A canvas in `bgrx32` has no transparent pixel.
  final class FrameComposer<Source: FrameSource>: FrameReader {
    private let source: Source
    private let data: Data
    private let conversion: LCMSConversion?
    private let isCancelled: @Sendable () -> Bool

    private var index = 0
    private var canvas: Bitmap?
    private var cleared: StoredFrame?
    /// A frame by itself, before it is blended. Kept: fresh memory costs as much as the blending.
    private var scratch: (memory: ScratchMemory, byteCount: Int)?

    private var size: PixelSize { source.animation.canvas }

    init(
      _ source: Source, _ data: Data, conversion: LCMSConversion?,
      isCancelled: @escaping @Sendable () -> Bool
    ) {
      self.source = source
      self.data = data
      self.conversion = conversion
      self.isCancelled = isCancelled
    }

    func next() throws(ImageDecodingError) -> Bitmap? {
      guard index < source.animation.frames.count else { return nil }
      if isCancelled() { throw .cancelled }
      let frame = source.animation.frames[index]
      let composed = try data.lendBytes { bytes throws(ImageDecodingError) in
        try compose(frame, source.open(frame, bytes))
      }
      if frame.disposal != .restore {
        canvas = composed
        cleared = frame.disposal == .clear ? frame : nil
      }
      index += 1
      return try upright(composed)
    }

    private func compose(
      _ frame: StoredFrame, _ encoded: any EncodedFrame
    ) throws(ImageDecodingError) -> Bitmap {
      let wasOpaque = canvas?.layout.format == .bgrx32 && cleared == nil
      let isOpaque =
        encoded.hasAlpha ? frame.isBlended && wasOpaque : frame.covers(size) || wasOpaque
      // Nothing shows through from the empty canvas.
      let isBlended = frame.isBlended && encoded.hasAlpha && canvas != nil
      return try Bitmap.decoding(
        size: size, format: isOpaque ? .bgrx32 : .bgra32, conversion: conversion
      ) { pixels, layout throws(ImageDecodingError) in
        guard let start = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
          throw .outOfMemory
        }
        if isBlended || !frame.covers(size) { writeCanvas(start, layout) }
        guard isBlended || !frame.isInside(size) else {
          let offset = frame.y * layout.rowBytes + frame.x * 4
          return try encoded.read(start + offset, layout.rowBytes, unless: isCancelled)
        }
        let rowBytes = frame.size.width * 4
        let scratch = try scratch(of: rowBytes * frame.size.height)
        try encoded.read(scratch.start, rowBytes, unless: isCancelled)
        let part = frame.part(of: size)
        for row in part.rows {
          fic_rows_blend(
            scratch.start + (row - frame.y) * rowBytes,
            start + row * layout.rowBytes + part.columns.lowerBound * 4, part.columns.count)
        }
      }
    }

    private func scratch(of byteCount: Int) throws(ImageDecodingError) -> ScratchMemory {
      if let scratch, scratch.byteCount >= byteCount { return scratch.memory }
      scratch = nil
      let memory = try ScratchMemory(byteCount: byteCount)
      scratch = (memory, byteCount)
      return memory
    }

    /// Writes what the frame is drawn on.
    private func writeCanvas(_ rows: UnsafeMutablePointer<UInt8>, _ layout: PixelLayout) {
      guard let canvas else {
        memset(rows, 0, layout.byteCount)
        return
      }
      canvas.withUnsafeBytes { bytes in
        guard let source = bytes.baseAddress else { return }
        memcpy(rows, source, layout.byteCount)
      }
      guard let part = cleared?.part(of: size) else { return }
      for row in part.rows {
        memset(
          rows + row * layout.rowBytes + part.columns.lowerBound * 4, 0, part.columns.count * 4)
      }
    }

    private func upright(_ composed: Bitmap) throws(ImageDecodingError) -> Bitmap {
      let orientation = source.animation.orientation
      guard orientation != .up else { return composed }
      let size = orientation.turning(size)
      return try Bitmap.decoding(
        size: size, format: composed.layout.format, conversion: conversion
      ) { pixels, layout throws(ImageDecodingError) in
        let target = try UprightRows(pixels, layout: layout, orientation: orientation)
        composed.withUnsafeBytes { bytes in
          guard let rows = bytes.start else { return }
          target.place(
            rows, rowBytes: composed.layout.rowBytes, first: 0, count: composed.size.height)
        }
      }
    }
  }
#endif
