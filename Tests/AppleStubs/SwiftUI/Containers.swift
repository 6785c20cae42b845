public import CoreGraphics

public struct LazyVStack<Content: View> {
  let content: Content
  public init(
    alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil,
    @ViewBuilder content: () -> Content
  ) { self.content = content() }
}
extension LazyVStack: View { public var body: some View { content } }

public struct LazyVGrid<Content: View> {
  let content: Content
  public init(
    columns: [GridItem], alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil,
    pinnedViews: PinnedScrollableViews = .init(), @ViewBuilder content: () -> Content
  ) { self.content = content() }
}
extension LazyVGrid: View { public var body: some View { content } }

public struct GridItem: Sendable {
  public enum Size: Sendable {
    case fixed(_ size: CGFloat)
    case flexible(minimum: CGFloat = 10, maximum: CGFloat = .infinity)
    case adaptive(minimum: CGFloat, maximum: CGFloat = .infinity)
  }
  public init(
    _ size: GridItem.Size = .flexible(), spacing: CGFloat? = nil, alignment: Alignment? = nil
  ) {}
}
public struct PinnedScrollableViews: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

public struct VStack<Content: View> {
  let content: Content
  public init(
    alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil,
    @ViewBuilder content: () -> Content
  ) { self.content = content() }
}
extension VStack: View { public var body: some View { content } }

public struct HStack<Content: View> {
  let content: Content
  public init(
    alignment: VerticalAlignment = .center, spacing: CGFloat? = nil,
    @ViewBuilder content: () -> Content
  ) { self.content = content() }
}
extension HStack: View { public var body: some View { content } }

public struct ZStack<Content: View> {
  let content: Content
  public init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {
    self.content = content()
  }
}
extension ZStack: View { public var body: some View { content } }

public struct ScrollView<Content: View> {
  let content: Content
  public init(_ axes: Axis.Set = .vertical, @ViewBuilder content: () -> Content) {
    self.content = content()
  }
}
extension ScrollView: View { public var body: some View { content } }

/// Takes the size that is proposed to it.
public struct GeometryReader<Content> {
  let content: (GeometryProxy) -> Content
}
extension GeometryReader: View, _Leaf, Primitive where Content: View {
  public init(@ViewBuilder content: @escaping (GeometryProxy) -> Content) {
    self.content = content
  }
  func draw(on screen: Screen) {
    screen.draw(content(GeometryProxy(size: screen.proposed)), "content")
  }
}
public struct GeometryProxy { public let size: CGSize }

public struct HorizontalAlignment: Equatable, Sendable {
  public static let leading = HorizontalAlignment()
  public static let center = HorizontalAlignment()
}
public struct VerticalAlignment: Equatable, Sendable {
  public static let center = VerticalAlignment()
}
public struct Alignment: Equatable, Sendable {
  public static let center = Alignment()
  public static let bottomLeading = Alignment()
}
public enum Axis: Int8, CaseIterable, Sendable {
  case horizontal, vertical
  public struct Set: OptionSet, Sendable {
    public let rawValue: Int8
    public init(rawValue: Int8) { self.rawValue = rawValue }
    public static let horizontal = Axis.Set(rawValue: 1)
    public static let vertical = Axis.Set(rawValue: 2)
  }
}
public enum Edge: Int8, CaseIterable, Sendable {
  case top, leading, bottom, trailing
  public struct Set: OptionSet, Sendable {
    public let rawValue: Int8
    public init(rawValue: Int8) { self.rawValue = rawValue }
    public static let all = Edge.Set(rawValue: 15)
  }
}
public enum ContentMode: Hashable, CaseIterable, Sendable { case fit, fill }
