public import Pixels

/// How a source image becomes the image of a slot.
///
/// ```swift
/// let face = Drawing.aspectFill(alignment: .top, corners: .ellipse)
/// let page = Drawing.aspectFit(background: .white)
/// let badge = Drawing.custom { source, canvas in
///   canvas.clip(to: .ellipse(in: canvas.bounds))
///   try canvas.draw(source, in: canvas.bounds, scaling: .aspectFill)
///   canvas.stroke(.ellipse(in: canvas.bounds.inset(by: 1)), with: .white, lineWidth: 2)
/// }
/// ```
///
/// Recipes go straight from the decoded pixels to the slot; a closure costs a canvas in between. A
/// background shows wherever the image leaves room or is transparent. Formats without alpha show
/// black where the background is clear.
///
/// Recipes of equal values are equal. Closures cannot be compared: a drawing with one equals its own
/// copies and nothing else, so keep it in a constant where that matters.
public struct Drawing: Hashable, Sendable {
  /// How an image of other proportions meets the rectangle it is drawn into.
  public enum Scaling: String, CaseIterable, Hashable, Sendable, Codable {
    /// Covers the whole rectangle; the protruding part is cut off.
    case aspectFill

    /// Shows the whole image; the rest of the rectangle stays as it was.
    case aspectFit

    /// Shows the whole image in the whole rectangle, in the rectangle's proportions.
    case stretch
  }

  /// The shape of the image's corners.
  public enum Corners: Hashable, Sendable {
    /// They stay square.
    case square

    /// Quarters of a circle take their place.
    ///
    /// - Parameter radius: In points; at most half of the image's shorter side is used.
    case rounded(radius: Double)

    /// The largest ellipse within the image remains; a circle where the image is square.
    case ellipse
  }

  /// Draws with the decoded image, in the format's colour space, on an empty canvas that becomes the slot's
  /// image.
  public typealias Closure = @Sendable (_ source: Bitmap, _ canvas: inout Canvas) throws -> Void

  /// Scaling, alignment and all that a recipe needs besides the pixels.
  package struct Recipe: Hashable, Sendable {
    package var scaling: Scaling
    package var alignment = Alignment.center
    package var background = Canvas.Color.clear
    package var corners = Corners.square
    package var crop: Canvas.Rect?
  }

  package enum Content: Hashable, Sendable {
    case recipe(Recipe)
    case closure(OwnClosure)
  }

  /// A closure that is told from others by who made it.
  package final class OwnClosure: Hashable, Sendable {
    let draw: Closure

    init(_ draw: @escaping Closure) { self.draw = draw }

    package static func == (first: OwnClosure, second: OwnClosure) -> Bool { first === second }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  package let content: Content

  /// Applied to the result one after the other.
  var filters: [Filter] = []

  /// The image covers the slot, centred; the protruding part is cut off.
  public static let aspectFill = Drawing(content: .recipe(Recipe(scaling: .aspectFill)))

  /// The whole image, centred in the slot; the rest of the slot is transparent, or black in
  /// formats without alpha.
  public static let aspectFit = Drawing(content: .recipe(Recipe(scaling: .aspectFit)))

  /// The whole image in the proportions of the slot.
  public static let stretch = Drawing(content: .recipe(Recipe(scaling: .stretch)))

  /// The image covers the slot; the protruding part is cut off.
  ///
  /// - Parameters:
  ///   - alignment: Which part of the image survives the cut.
  ///   - background: The colour under transparent parts and outside of the corners.
  ///   - corners: The outline of the image.
  ///   - crop: The part of the upright source to use, with the whole source reaching from 0 to 1 in
  ///     both directions. Parts outside of the source are ignored; a crop entirely outside counts
  ///     as none.
  public static func aspectFill(
    alignment: Alignment = .center, background: Canvas.Color = .clear, corners: Corners = .square,
    crop: Canvas.Rect? = nil
  ) -> Drawing {
    let recipe = Recipe(
      scaling: .aspectFill, alignment: alignment, background: background, corners: corners,
      crop: crop)
    return Drawing(content: .recipe(recipe))
  }

  /// The whole image within the slot.
  ///
  /// - Parameters:
  ///   - alignment: Where in the slot the image lies.
  ///   - background: The colour around the image and under transparent parts.
  ///   - corners: The outline of the image.
  ///   - crop: The part of the source to use, as in
  ///     ``aspectFill(alignment:background:corners:crop:)``.
  public static func aspectFit(
    alignment: Alignment = .center, background: Canvas.Color = .clear, corners: Corners = .square,
    crop: Canvas.Rect? = nil
  ) -> Drawing {
    let recipe = Recipe(
      scaling: .aspectFit, alignment: alignment, background: background, corners: corners,
      crop: crop)
    return Drawing(content: .recipe(recipe))
  }

  /// The whole image in the proportions of the slot.
  ///
  /// - Parameters:
  ///   - background: The colour under transparent parts and outside of the corners.
  ///   - corners: The outline of the image.
  ///   - crop: The part of the source to use, as in
  ///     ``aspectFill(alignment:background:corners:crop:)``.
  public static func stretch(
    background: Canvas.Color = .clear, corners: Corners = .square, crop: Canvas.Rect? = nil
  ) -> Drawing {
    let recipe = Recipe(
      scaling: .stretch, background: background, corners: corners, crop: crop)
    return Drawing(content: .recipe(recipe))
  }

  /// The image that `closure` draws.
  ///
  /// The closure runs on a worker thread, never on an actor, and perhaps at the same time as other
  /// closures. It must not block for an image of the cache: drawing that image needs a worker
  /// thread too, and when all of them wait, none goes on. An entity that needs other images
  /// awaits them in its `providedImage(for:)`. On Linux the worker thread may be nicer than the main thread. A thread
  /// that the closure begins stays as nice, for good, and so do threads of Swift's pool that begin for a
  /// `Task { }`, a cancellation or a resumption in the closure: it should draw, and no more. An error of the
  /// closure reaches every request for the image, and nothing is stored. The source is decoded just large
  /// enough to fill the slot sharply; a closure that magnifies a part of it sees no more detail than that. Where a
  /// decoder's scale does not divide a side, part of the source's outermost pixels lies beside the
  /// image: `Canvas.draw(_:in:scaling:)` leaves it
  /// out. On Linux this needs the package trait `Cairo`, which is on by default; without it,
  /// drawing ends with ``DrawingError/canvasUnavailable``.
  public static func custom(_ closure: @escaping Closure) -> Drawing {
    Drawing(content: .closure(OwnClosure(closure)))
  }
}
