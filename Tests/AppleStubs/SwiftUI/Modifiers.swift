@MainActor @preconcurrency public protocol ViewModifier {}

public struct ModifiedContent<Content, Modifier> {
  public var content: Content
  public var modifier: Modifier
  public init(content: Content, modifier: Modifier) {
    (self.content, self.modifier) = (content, modifier)
  }
}
extension ModifiedContent: View, _Leaf, Primitive where Content: View, Modifier: ViewModifier {
  func draw(on screen: Screen) {
    guard let change = modifier as? any Change else { return screen.draw(content, "content") }
    change.change(screen) { screen.draw(content, "content") }
  }
}

/// What a modifier does around the drawing of its content.
@MainActor protocol Change {
  func change(_ screen: Screen, around content: () -> Void)
}

public struct AccessibilityAttachmentModifier { let label: Text? }
extension AccessibilityAttachmentModifier: ViewModifier, Change {
  func change(_ screen: Screen, around content: () -> Void) {
    let count = screen.items.count
    content()
    if let label { screen.label(itemsFrom: count, label._text) }
  }
}

struct FrameModifier {
  let width: CGFloat?
  let height: CGFloat?
}
extension FrameModifier: ViewModifier, Change {
  func change(_ screen: Screen, around content: () -> Void) {
    let count = screen.items.count
    let outer = screen.proposed
    screen.proposed = CGSize(width: width ?? outer.width, height: height ?? outer.height)
    content()
    screen.proposed = outer
    if let width, let height { screen.size(itemsFrom: count, CGSize(width: width, height: height)) }
  }
}

struct AspectRatioModifier { let contentMode: ContentMode }
extension AspectRatioModifier: ViewModifier, Change {
  func change(_ screen: Screen, around content: () -> Void) {
    let count = screen.items.count
    content()
    screen.layIn(itemsFrom: count, contentMode)
  }
}

struct OverlayModifier<Overlay: View> { let overlay: Overlay }
extension OverlayModifier: ViewModifier, Change {
  func change(_ screen: Screen, around content: () -> Void) {
    content()
    screen.draw(overlay, "overlay")
  }
}

struct PlainModifier {}
extension PlainModifier: ViewModifier, Change {
  func change(_ screen: Screen, around content: () -> Void) { content() }
}

struct AppearanceModifier {
  let appear: (() -> Void)?
  let disappear: (() -> Void)?
}
extension AppearanceModifier: ViewModifier, Change {
  func change(_ screen: Screen, around content: () -> Void) {
    content()
    if let appear { screen.appearActions.append(appear) }
    if let disappear { screen.disappearActions.append(disappear) }
  }
}

struct IdentityModifier<ID: Hashable> { let id: ID }
extension IdentityModifier: ViewModifier, Change {
  func change(_ screen: Screen, around content: () -> Void) { screen.within("\(id)", content) }
}

struct ChangeModifier<V: Equatable> {
  final class Box {
    var value: V
    init(_ value: V) { self.value = value }
  }
  let value: V
  let initial: Bool
  let action: () -> Void
}
extension ChangeModifier: ViewModifier, Change {
  func change(_ screen: Screen, around content: () -> Void) {
    content()
    let old = screen.kept(Box(value), as: "value")
    if let old { if old.value != value { action() } } else if initial { action() }
    old?.value = value
  }
}

struct EnvironmentModifier<Value> {
  let keyPath: WritableKeyPath<EnvironmentValues, Value>
  let value: Value
}
extension EnvironmentModifier: ViewModifier, Change {
  func change(_ screen: Screen, around content: () -> Void) {
    let outer = screen.environment
    screen.environment[keyPath: keyPath] = value
    content()
    screen.environment = outer
  }
}

extension View {
  nonisolated public func frame(
    width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center
  ) -> some View {
    ModifiedContent(content: self, modifier: FrameModifier(width: width, height: height))
  }
  nonisolated public func aspectRatio(
    _ aspectRatio: CGFloat? = nil, contentMode: ContentMode
  ) -> some View {
    ModifiedContent(content: self, modifier: AspectRatioModifier(contentMode: contentMode))
  }
  nonisolated public func clipped(antialiased: Bool = false) -> some View {
    ModifiedContent(content: self, modifier: PlainModifier())
  }
  nonisolated public func contentShape<S: Shape>(_ shape: S, eoFill: Bool = false) -> some View {
    ModifiedContent(content: self, modifier: PlainModifier())
  }
  nonisolated public func font(_ font: Font?) -> some View {
    ModifiedContent(content: self, modifier: PlainModifier())
  }
  nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View {
    ModifiedContent(content: self, modifier: PlainModifier())
  }
  nonisolated public func background<S: ShapeStyle>(
    _ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all
  ) -> some View { ModifiedContent(content: self, modifier: PlainModifier()) }
  nonisolated public func allowsHitTesting(_ enabled: Bool) -> some View {
    ModifiedContent(content: self, modifier: PlainModifier())
  }
  nonisolated public func accessibilityHidden(
    _ hidden: Bool
  ) -> ModifiedContent<Self, AccessibilityAttachmentModifier> {
    ModifiedContent(content: self, modifier: AccessibilityAttachmentModifier(label: nil))
  }
  nonisolated public func transition(_ t: AnyTransition) -> some View {
    ModifiedContent(content: self, modifier: PlainModifier())
  }
  nonisolated public func overlay<V: View>(
    alignment: Alignment = .center, @ViewBuilder content: () -> V
  ) -> some View {
    ModifiedContent(content: self, modifier: OverlayModifier(overlay: content()))
  }
  nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> some View {
    ModifiedContent(
      content: self, modifier: AppearanceModifier(appear: action, disappear: nil))
  }
  nonisolated public func onDisappear(perform action: (() -> Void)? = nil) -> some View {
    ModifiedContent(
      content: self, modifier: AppearanceModifier(appear: nil, disappear: action))
  }
  nonisolated public func id<ID: Hashable>(_ id: ID) -> some View {
    ModifiedContent(content: self, modifier: IdentityModifier(id: id))
  }
  nonisolated public func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping () -> Void
  ) -> some View {
    ModifiedContent(
      content: self, modifier: ChangeModifier(value: value, initial: initial, action: action))
  }
  nonisolated public func environment<V>(
    _ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V
  ) -> some View {
    ModifiedContent(content: self, modifier: EnvironmentModifier(keyPath: keyPath, value: value))
  }
  nonisolated public func accessibilityLabel(
    _ label: Text, isEnabled: Bool
  ) -> ModifiedContent<Self, AccessibilityAttachmentModifier> {
    ModifiedContent(
      content: self, modifier: AccessibilityAttachmentModifier(label: isEnabled ? label : nil))
  }
}
