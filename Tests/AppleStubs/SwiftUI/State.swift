public import Foundation

public protocol DynamicProperty {}

/// A property that the screen connects before it asks a view for its body.
@MainActor protocol Connected {
  func connect(to screen: Screen, as name: String)
}

@propertyWrapper public struct State<Value>: DynamicProperty {
  final class Box {
    var value: Value
    /// The box of the first view in this place, which all later ones share.
    var kept: Box?
    init(_ value: Value) { self.value = value }
  }
  private let box: Box

  public init(wrappedValue value: Value) { box = Box(value) }
  public var wrappedValue: Value {
    get { (box.kept ?? box).value }
    nonmutating set { (box.kept ?? box).value = newValue }
  }
  public var projectedValue: Binding<Value> { Binding({ wrappedValue }, { wrappedValue = $0 }) }
}
extension State: Connected {
  func connect(to screen: Screen, as name: String) {
    box.kept = screen.kept(box, as: name)
  }
}

@propertyWrapper public struct Environment<Value>: DynamicProperty {
  final class Box { var value: Value? }
  private let box = Box()
  private let keyPath: KeyPath<EnvironmentValues, Value>

  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }
  public var wrappedValue: Value { box.value ?? EnvironmentValues()[keyPath: keyPath] }
}
extension Environment: Connected {
  func connect(to screen: Screen, as name: String) {
    box.value = screen.environment[keyPath: keyPath]
  }
}

public protocol EnvironmentKey {
  associatedtype Value
  static var defaultValue: Self.Value { get }
}

public struct EnvironmentValues {
  private var values: [ObjectIdentifier: Any] = [:]
  var _accessibilityReduceMotion = false
  public var accessibilityReduceMotion: Bool { _accessibilityReduceMotion }
  public var displayScale: CGFloat = 1
  public init() {}
  public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
    get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

public struct Animation: Equatable, Sendable {
  let name: String
  public static let `default` = Animation(name: "default")
  public static func easeIn(duration: TimeInterval) -> Animation {
    Animation(name: "easeIn \(duration)")
  }
}

public struct Transaction {
  public var animation: Animation?
  public init() {}
  public init(animation: Animation?) { self.animation = animation }
}

public func withTransaction<Result>(
  _ transaction: Transaction, _ body: () throws -> Result
) rethrows -> Result {
  let animation = transaction.animation
  MainActor.assumeIsolated { Screen.animations.append(animation) }
  return try body()
}

public struct AnyTransition: Sendable {
  public static let opacity = AnyTransition()
  public static let scale = AnyTransition()
}
