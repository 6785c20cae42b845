public struct CGAffineTransform: Sendable {
  public var a: CGFloat = 1
  public var b: CGFloat = 0
  public var c: CGFloat = 0
  public var d: CGFloat = 1
  public var tx: CGFloat = 0
  public var ty: CGFloat = 0

  public init() {}
  public init(a: CGFloat, b: CGFloat, c: CGFloat, d: CGFloat, tx: CGFloat, ty: CGFloat) {
    (self.a, self.b, self.c, self.d, self.tx, self.ty) = (a, b, c, d, tx, ty)
  }
  public init(translationX tx: CGFloat, y ty: CGFloat) { (self.tx, self.ty) = (tx, ty) }
  public init(scaleX sx: CGFloat, y sy: CGFloat) { (a, d) = (sx, sy) }
  public static var identity: CGAffineTransform { CGAffineTransform() }

  public func inverted() -> CGAffineTransform {
    let determinant = a * d - b * c
    guard determinant != 0 else { return self }
    return CGAffineTransform(
      a: d / determinant, b: -b / determinant, c: -c / determinant, d: a / determinant,
      tx: (c * ty - d * tx) / determinant, ty: (b * tx - a * ty) / determinant)
  }

  /// First this one, then `t2`.
  public func concatenating(_ t2: CGAffineTransform) -> CGAffineTransform {
    CGAffineTransform(
      a: a * t2.a + b * t2.c, b: a * t2.b + b * t2.d, c: c * t2.a + d * t2.c,
      d: c * t2.b + d * t2.d, tx: tx * t2.a + ty * t2.c + t2.tx, ty: tx * t2.b + ty * t2.d + t2.ty)
  }
}
