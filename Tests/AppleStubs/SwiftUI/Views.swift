@_exported public import CoreGraphics
@_exported public import Foundation

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

extension Never: View { public var body: Never { fatalError("Nothing has a body.") } }

/// A view that consists of no others.
public protocol _Leaf: View where Body == Never {}
extension _Leaf { public var body: Never { fatalError("A leaf has no body.") } }

@resultBuilder public struct ViewBuilder {
  public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: View>(
    _ content: repeat each Content
  ) -> TupleView<(repeat each Content)> { TupleView((repeat each content)) }
  public static func buildEither<TrueContent: View, FalseContent: View>(
    first: TrueContent
  ) -> _ConditionalContent<TrueContent, FalseContent> {
    _ConditionalContent(storage: .first(first))
  }
  public static func buildEither<TrueContent: View, FalseContent: View>(
    second: FalseContent
  ) -> _ConditionalContent<TrueContent, FalseContent> {
    _ConditionalContent(storage: .second(second))
  }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
}

public struct TupleView<T> {
  public var value: T
  public init(_ value: T) { self.value = value }
}
extension TupleView: _Leaf, Primitive {
  func draw(on screen: Screen) {
    for (index, child) in Mirror(reflecting: value).children.enumerated() {
      if let view = child.value as? any View { screen.draw(view, "\(index)") }
    }
  }
}

public struct EmptyView { public init() {} }
extension EmptyView: _Leaf, Primitive {
  func draw(on screen: Screen) {}
}

extension Optional: View, _Leaf, Primitive where Wrapped: View {
  func draw(on screen: Screen) { if let self { screen.draw(self, "some") } }
}

public struct _ConditionalContent<TrueContent, FalseContent> {
  enum Storage {
    case first(TrueContent)
    case second(FalseContent)
  }
  let storage: Storage
}
extension _ConditionalContent: View, _Leaf, Primitive where TrueContent: View, FalseContent: View {
  func draw(on screen: Screen) {
    switch storage {
    case .first(let content): screen.draw(content, "first")
    case .second(let content): screen.draw(content, "second")
    }
  }
}

public struct Text: Equatable, Sendable {
  public let _text: String
  public init<S: StringProtocol>(_ content: S) { _text = String(content) }
  public init(verbatim content: String) { _text = content }
}
extension Text: _Leaf, Primitive {
  func draw(on screen: Screen) { screen.add(.text(_text), label: _text) }
}

public protocol ShapeStyle: Sendable {}

public struct Font: Hashable, Sendable {
  public static let caption2 = Font()
}

public protocol Shape: Sendable {}
public struct Rectangle: Shape { public init() {} }

public struct Color: Hashable, Sendable, ShapeStyle {
  let name: String
  public static let secondary = Color(name: "secondary")
  public static let gray = Color(name: "gray")
  public static let red = Color(name: "red")
  public static let clear = Color(name: "clear")
  public static let white = Color(name: "white")
  public static let black = Color(name: "black")
}
extension Color: _Leaf, Primitive {
  func draw(on screen: Screen) { screen.add(.color(name), label: nil) }
}

public struct Image: Equatable, Sendable {
  public enum Orientation: UInt8, CaseIterable, Hashable, Sendable {
    case up, upMirrored, down, downMirrored, left, leftMirrored, right, rightMirrored
  }

  /// `@unchecked Sendable` is safe: a `CGImage` never changes.
  private final class Pixels: @unchecked Sendable {
    let image: CGImage
    init(_ image: CGImage) { self.image = image }
  }

  private let pixels: Pixels
  private let scale: CGFloat
  private let label: Text?

  public init(
    _ cgImage: CGImage, scale: CGFloat, orientation: Image.Orientation = .up, label: Text
  ) {
    (pixels, self.scale, self.label) = (Pixels(cgImage), scale, label)
  }
  public init(decorative cgImage: CGImage, scale: CGFloat, orientation: Image.Orientation = .up) {
    (pixels, self.scale, label) = (Pixels(cgImage), scale, nil)
  }
  public func resizable() -> Image { self }

  /// Makes an image that stands for a symbol.
  public init(systemName: String) {
    let pixel = CGImage(_bgra: [0, 0, 0, 255], width: 1, height: 1, hasAlpha: true)
    guard let pixel else { preconditionFailure("One pixel is an image.") }
    (pixels, scale, label) = (Pixels(pixel), 1, nil)
  }

  public static func == (first: Image, second: Image) -> Bool {
    first.pixels.image === second.pixels.image && first.scale == second.scale
      && first.label == second.label
  }
}
extension Image: _Leaf, Primitive {
  func draw(on screen: Screen) { screen.add(.image(pixels.image), label: label?._text) }
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content> {
  let data: Data
  let id: KeyPath<Data.Element, ID>
  let content: (Data.Element) -> Content
}
extension ForEach where Content: View {
  public init(
    _ data: Data, id: KeyPath<Data.Element, ID>,
    @ViewBuilder content: @escaping (Data.Element) -> Content
  ) { (self.data, self.id, self.content) = (data, id, content) }
}
extension ForEach: View, _Leaf, Primitive where Content: View {
  func draw(on screen: Screen) {
    for element in data { screen.draw(content(element), "\(element[keyPath: id])") }
  }
}

@MainActor @preconcurrency public protocol PreviewProvider {
  associatedtype Previews: View
  @ViewBuilder @MainActor @preconcurrency static var previews: Self.Previews { get }
}
