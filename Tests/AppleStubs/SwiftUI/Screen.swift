public import Foundation
import Observation

/// A view that the stand-in draws by itself.
@MainActor protocol Primitive {
  func draw(on screen: Screen)
}

/// Shows views to a test; not Apple's, and without an underscore because no library code can see it
/// but by importing a module that Apple platforms have.
///
/// It evaluates bodies when asked to, keeps `State` by the place of a view in the tree, observes what
/// bodies read, and calls `onAppear` and `onDisappear` when the test says so.
@MainActor public final class Screen {
  public enum Content {
    case image(CGImage)
    case text(String)
    case color(String)
  }

  public struct Item {
    public let content: Content
    public fileprivate(set) var label: String?
    public fileprivate(set) var size: CGSize?
    public fileprivate(set) var contentMode: ContentMode?
  }

  /// The animation of each call of `withTransaction`, in their order; `nil` stands for none.
  public static var animations: [Animation?] = []

  /// What the last drawing showed.
  public private(set) var items: [Item] = []
  /// What timelines tell the views in them.
  public var date = Date(timeIntervalSinceReferenceDate: 1000)
  /// Whether the timelines of the last drawing are paused.
  public internal(set) var timelines: [Bool] = []
  /// What the root's container proposes; frames propose theirs.
  public var proposed = CGSize(width: 390, height: 844)
  /// Pixels in a point.
  public var displayScale: CGFloat {
    get { environment.displayScale }
    set { environment.displayScale = newValue }
  }
  /// Whether something changed that a body has read.
  public private(set) var isOutdated = false
  public var _reducesMotion: Bool {
    get { environment._accessibilityReduceMotion }
    set { environment._accessibilityReduceMotion = newValue }
  }
  var environment = EnvironmentValues()
  var appearActions: [() -> Void] = []
  var disappearActions: [() -> Void] = []
  /// What a picker does with the tag of what is tapped, while it draws its content.
  var select: ((Any) -> Void)?
  private var taps: [String: () -> Void] = [:]
  private var path: [String] = []
  private var boxes: [String: AnyObject] = [:]

  public init() {}

  /// The image, if the screen shows an image and nothing else.
  public var image: CGImage? {
    if case .image(let image)? = items.first?.content, items.count == 1 { image } else { nil }
  }

  /// Evaluates the bodies of a view and the views in it.
  public func draw(_ root: some View) {
    (items, appearActions, disappearActions, isOutdated) = ([], [], [], false)
    (timelines, taps) = ([], [:])
    withObservationTracking {
      draw(root, "root")
    } onChange: { [weak self] in
      MainActor.assumeIsolated { self?.isOutdated = true }
    }
  }

  /// Tells the views of the last drawing that they are seen.
  public func appear() { for action in appearActions { action() } }

  /// Tells the views of the last drawing that they are not seen any more.
  public func disappear() { for action in disappearActions { action() } }

  /// Forgets the state of all views, as SwiftUI does with views that left the tree.
  public func forget() {
    (items, appearActions, disappearActions, boxes) = ([], [], [], [:])
  }

  /// Does what a tap on the topmost item of a label does.
  public func tap(_ label: String) {
    guard let action = taps[label] else { preconditionFailure("\(label) takes no taps.") }
    action()
  }

  func draw(_ label: some View, _ name: String, _ action: @escaping () -> Void) {
    tapping(action) { draw(label, name) }
  }

  /// Draws what takes taps.
  func tapping(_ action: @escaping () -> Void, _ content: () -> Void) {
    let count = items.count
    content()
    for label in items.dropFirst(count).compactMap(\.label) { taps[label] = action }
  }

  /// Draws a part whose views have a state of their own.
  func within(_ name: String, _ content: () -> Void) {
    path.append(name)
    content()
    path.removeLast()
  }

  func draw(_ view: some View, _ name: String) {
    path.append(name)
    defer { path.removeLast() }
    if let primitive = view as? any Primitive { return primitive.draw(on: self) }
    for child in Mirror(reflecting: view).children {
      guard let property = child.value as? any Connected, let name = child.label else { continue }
      property.connect(to: self, as: name)
    }
    draw(view.body, "body")
  }

  func kept<Box: AnyObject>(_ box: Box, as name: String) -> Box? {
    let key = (path + [name]).joined(separator: "/")
    if let old = boxes[key] as? Box { return old === box ? nil : old }
    boxes[key] = box
    return nil
  }

  func add(_ content: Content, label: String?) {
    items.append(Item(content: content, label: label))
  }

  func label(itemsFrom start: Int, _ label: String) {
    for index in items.indices.dropFirst(start) { items[index].label = label }
  }

  func layIn(itemsFrom start: Int, _ contentMode: ContentMode) {
    for index in items.indices.dropFirst(start) { items[index].contentMode = contentMode }
  }

  func size(itemsFrom start: Int, _ size: CGSize) {
    for index in items.indices.dropFirst(start) { items[index].size = size }
  }
}
