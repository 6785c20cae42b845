/// The screen draws what is in the scene of an app.
@MainActor @preconcurrency public protocol Scene {
  associatedtype Body: Scene
  @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
}
extension Never: Scene {}

@resultBuilder public struct SceneBuilder {
  public static func buildExpression<Content: Scene>(_ content: Content) -> Content { content }
  public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

@MainActor @preconcurrency public protocol App {
  associatedtype Body: Scene
  @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
  @MainActor @preconcurrency init()
}

extension App {
  /// Runs nothing: a test draws the app.
  @MainActor @preconcurrency public static func main() {}
}

/// A scene that has a window.
@MainActor protocol Window {
  func draw(on screen: Screen)
}

public struct WindowGroup<Content: View>: Scene, Window {
  let content: Content
  public init(@ViewBuilder content: () -> Content) { self.content = content() }
  public var body: Never { fatalError("A window has no scene.") }
  func draw(on screen: Screen) { screen.draw(content) }
}

extension Screen {
  /// Draws the window of an app.
  public func draw(app: some App) { (app.body as? any Window)?.draw(on: self) }
}
