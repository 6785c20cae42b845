#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Canvas {
  /// An affine map: x' = a x + c y + tx, y' = b x + d y + ty, the order that Cairo and CoreGraphics
  /// both use.
  struct Transform: Hashable, Sendable {
    var a = 1.0
    var b = 0.0
    var c = 0.0
    var d = 1.0
    var tx = 0.0
    var ty = 0.0

    static func translation(x: Double, y: Double) -> Transform { Transform(tx: x, ty: y) }

    static func scale(x: Double, y: Double) -> Transform { Transform(a: x, d: y) }

    /// Clockwise on a canvas, whose y grows downwards.
    static func rotation(degrees: Double) -> Transform {
      // Exact for quarter turns, where sine and cosine of a rounded π are not.
      let turns: [Double: (Double, Double)] = [
        0: (0, 1), 90: (1, 0), 180: (0, -1), 270: (-1, 0), -90: (-1, 0), -180: (0, -1),
        -270: (1, 0),
      ]
      let radians = degrees * .pi / 180
      let (sine, cosine) =
        turns[degrees.truncatingRemainder(dividingBy: 360)] ?? (sin(radians), cos(radians))
      return Transform(a: cosine, b: sine, c: -sine, d: cosine)
    }

    /// First this one, then `outer`.
    func followed(by outer: Transform) -> Transform {
      Transform(
        a: a * outer.a + b * outer.c, b: a * outer.b + b * outer.d,
        c: c * outer.a + d * outer.c, d: c * outer.b + d * outer.d,
        tx: tx * outer.a + ty * outer.c + outer.tx, ty: tx * outer.b + ty * outer.d + outer.ty)
    }

    func applied(to point: Point) -> Point {
      Point(x: a * point.x + c * point.y + tx, y: b * point.x + d * point.y + ty)
    }

    /// Whether upright rectangles stay upright and nothing is mirrored.
    var isUpright: Bool { b == 0 && c == 0 && a > 0 && d > 0 }

    /// The upright rectangle around a transformed rectangle; exactly that one where ``isUpright``.
    func bounds(of rect: Rect) -> Rect {
      let corners = rect.corners.map(applied(to:))
      let xs = corners.map(\.x)
      let ys = corners.map(\.y)
      let left = xs.reduce(.infinity, min)
      let top = ys.reduce(.infinity, min)
      return Rect(
        x: left, y: top, width: xs.reduce(-.infinity, max) - left,
        height: ys.reduce(-.infinity, max) - top)
    }

    /// The lengths of a unit step along x and along y after this transform.
    var stretch: (x: Double, y: Double) {
      ((a * a + b * b).squareRoot(), (c * c + d * d).squareRoot())
    }
  }
}
