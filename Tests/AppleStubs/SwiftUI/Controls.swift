@frozen @propertyWrapper public struct Binding<Value> {
  private let get: () -> Value
  private let set: (Value) -> Void

  init(_ get: @escaping () -> Value, _ set: @escaping (Value) -> Void) {
    (self.get, self.set) = (get, set)
  }
  public var wrappedValue: Value {
    get { get() }
    nonmutating set { set(newValue) }
  }
  public var projectedValue: Binding<Value> { self }
}

/// A tap on anything in the label acts.
public struct Button<Label: View> {
  let action: @MainActor () -> Void
  let label: Label
  public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
    (self.action, self.label) = (action, label())
  }
}
extension Button where Label == Text {
  public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {
    (self.action, label) = (action, Text(title))
  }
}
extension Button: _Leaf, Primitive {
  func draw(on screen: Screen) { screen.draw(label, "label", action) }
}

public struct Toggle<Label: View> {
  let isOn: Binding<Bool>
  let label: Label
}
extension Toggle where Label == Text {
  public init<S: StringProtocol>(_ title: S, isOn: Binding<Bool>) {
    (self.isOn, label) = (isOn, Text(title))
  }
}
extension Toggle: _Leaf, Primitive {
  func draw(on screen: Screen) {
    screen.draw(label, "label") { isOn.wrappedValue = !isOn.wrappedValue }
  }
}

/// A tap on what has a tag selects that.
public struct Picker<Label: View, SelectionValue: Hashable, Content: View> {
  let selection: Binding<SelectionValue>
  let content: Content
}
extension Picker where Label == Text {
  public init<S: StringProtocol>(
    _ title: S, selection: Binding<SelectionValue>, @ViewBuilder content: () -> Content
  ) { (self.selection, self.content) = (selection, content()) }
}
extension Picker: _Leaf, Primitive {
  func draw(on screen: Screen) {
    screen.select = { if let value = $0 as? SelectionValue { selection.wrappedValue = value } }
    screen.draw(content, "content")
    screen.select = nil
  }
}

struct TagModifier<V: Hashable> { let tag: V }
extension TagModifier: ViewModifier, Change {
  func change(_ screen: Screen, around content: () -> Void) {
    let select = screen.select
    screen.tapping({ select?(tag) }, content)
  }
}

@MainActor @preconcurrency public protocol PickerStyle {}
public struct SegmentedPickerStyle: PickerStyle { public init() {} }
extension PickerStyle where Self == SegmentedPickerStyle {
  public static var segmented: SegmentedPickerStyle { SegmentedPickerStyle() }
}

@MainActor @preconcurrency public protocol PrimitiveButtonStyle {}
public struct PlainButtonStyle: PrimitiveButtonStyle { public init() {} }
extension PrimitiveButtonStyle where Self == PlainButtonStyle {
  public static var plain: PlainButtonStyle { PlainButtonStyle() }
}

extension View {
  nonisolated public func tag<V: Hashable>(_ tag: V, includeOptional: Bool = true) -> some View {
    ModifiedContent(content: self, modifier: TagModifier(tag: tag))
  }
  nonisolated public func pickerStyle<S: PickerStyle>(_ style: S) -> some View {
    ModifiedContent(content: self, modifier: PlainModifier())
  }
  nonisolated public func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View {
    ModifiedContent(content: self, modifier: PlainModifier())
  }
}
