#if !canImport(ImageIO)
  import Pixels

  /// Goes through the chunks of a PNG file for its frames; PNG, third edition, section 11.3.6.
  ///
  /// A chunk that breaks the rules makes the file damaged. The announced number of frames is an upper bound: a whole
  /// file with fewer frames has these.
  struct PNGFrameScan {
    private(set) var animation: StoredAnimation
    /// `nil` for a file without animation.
    private(set) var announcedCount: Int?

    private let limits: DecodingLimits
    /// Of control chunks and chunks of frames' pixels together.
    private var sequenceNumber = 0
    private var hasImage = false
    /// The frame whose chunk of control came last, with an empty range before its pixels.
    private var frame: StoredFrame?
    /// Whether that frame's pixels are the image proper.
    private var showsImage = false

    init(_ animation: StoredAnimation, _ limits: DecodingLimits) {
      self.animation = animation
      self.limits = limits
    }

    mutating func run(_ bytes: RawSpan) throws(ImageDecodingError) {
      // After the signature and the header.
      var offset = 33
      animation.isCut = true
      while let length = bytes.bigEndian32(at: offset), bytes.bigEndian32(at: offset + 4) != nil {
        let content = offset + 8..<offset + 8 + length
        // The next head proves that a frame is whole.
        if bytes.has("IEND", at: offset + 4) {
          animation.isCut = false
          return try endFrame()
        }
        if bytes.has("fcTL", at: offset + 4), announcedCount != nil { try endFrame() }
        guard content.upperBound + 4 <= bytes.byteCount else { return }
        if bytes.has("IDAT", at: offset + 4) {
          // The announcement stands before the image.
          guard announcedCount != nil else { return }
          hasImage = true
          if showsImage { addPixels(content) }
        } else {
          try read(content, bytes)
        }
        // The frames behind those announced do not count.
        if let announcedCount, animation.frameCount == announcedCount {
          animation.isCut = false
          return
        }
        offset = content.upperBound + 4
      }
    }

    private mutating func read(
      _ content: Range<Int>, _ bytes: RawSpan
    ) throws(ImageDecodingError) {
      let (start, name) = (content.lowerBound, content.lowerBound - 4)
      if bytes.has("acTL", at: name) {
        guard announcedCount == nil, content.count == 8,
          PNGChecksum.isRight(content, bytes), let count = bytes.bigEndian32(at: start),
          let plays = bytes.bigEndian32(at: start + 4)
        else { return }
        announcedCount = count
        animation.loopCount = plays == 0 ? nil : plays
      } else if announcedCount == nil {
        return
      } else if bytes.has("fcTL", at: name) {
        try checkSequence(content, bytes)
        guard content.count == 26, PNGChecksum.isRight(content, bytes) else {
          throw .damaged("PNG: the frame's chunk at byte \(start - 8) is damaged.")
        }
        frame = try control(start, bytes)
        showsImage = !hasImage
      } else if bytes.has("fdAT", at: name) {
        try checkSequence(content, bytes)
        guard frame != nil, !showsImage else {
          throw .damaged("PNG: the pixels at byte \(start - 8) have no frame.")
        }
        addPixels(content)
      }
    }

    private mutating func checkSequence(
      _ content: Range<Int>, _ bytes: RawSpan
    ) throws(ImageDecodingError) {
      guard content.count >= 4, bytes.bigEndian32(at: content.lowerBound) == sequenceNumber else {
        throw .damaged("PNG: the chunk at byte \(content.lowerBound - 8) is out of order.")
      }
      sequenceNumber += 1
    }

    private func control(
      _ start: Int, _ bytes: RawSpan
    ) throws(ImageDecodingError) -> StoredFrame? {
      let numbers = (1...4).compactMap { bytes.bigEndian32(at: start + 4 * $0) }
      guard let seconds = bytes.bigEndian16(at: start + 20),
        let parts = bytes.bigEndian16(at: start + 22), let disposal = bytes.byte(at: start + 24),
        let blending = bytes.byte(at: start + 25), numbers.count == 4
      else { return nil }
      let frame = StoredFrame(
        x: numbers[2], y: numbers[3], size: PixelSize(width: numbers[0], height: numbers[1]),
        duration: .ofFrame(seconds: Double(seconds) / Double(parts == 0 ? 100 : parts)),
        disposal: disposal == 0 ? .keep : disposal == 1 ? .clear : .restore,
        isBlended: blending == 1, range: 0..<0)
      // A frame before the image has the image's pixels.
      guard disposal <= 2, blending <= 1, frame.size.isPositive, frame.isInside(animation.canvas),
        hasImage || frame.covers(animation.canvas)
      else { throw .damaged("PNG: the frame at byte \(start - 8) reaches beyond its canvas.") }
      return frame
    }

    /// Adds a chunk to the frame under way.
    private mutating func addPixels(_ content: Range<Int>) {
      guard let range = frame?.range else { return }
      let start = range.isEmpty ? content.lowerBound - 8 : range.lowerBound
      frame?.range = start..<content.upperBound + 4
    }

    private mutating func endFrame() throws(ImageDecodingError) {
      guard let frame else { return }
      guard !frame.range.isEmpty else { throw .damaged("PNG: a frame has no pixels.") }
      animation.append(frame, within: limits)
      self.frame = nil
    }
  }
#endif
