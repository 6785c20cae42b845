public protocol TimelineSchedule {}

public struct AnimationTimelineSchedule: TimelineSchedule, Sendable {
  let isPaused: Bool
  public init(minimumInterval: Double? = nil, paused: Bool = false) { isPaused = paused }
}

extension TimelineSchedule where Self == AnimationTimelineSchedule {
  public static func animation(
    minimumInterval: Double? = nil, paused: Bool = false
  ) -> AnimationTimelineSchedule {
    AnimationTimelineSchedule(minimumInterval: minimumInterval, paused: paused)
  }
}

public struct EveryMinuteTimelineSchedule: TimelineSchedule, Sendable {}

/// Evaluates its content at the screen's date whenever it is drawn.
public struct TimelineView<Schedule: TimelineSchedule, Content> {
  public struct Context { public let date: Date }
  let schedule: Schedule
  let content: (TimelineViewDefaultContext) -> Content
}

public typealias TimelineViewDefaultContext = TimelineView<EveryMinuteTimelineSchedule, Never>
  .Context

extension TimelineView where Content: View {
  public init(
    _ schedule: Schedule,
    @ViewBuilder content: @escaping (TimelineViewDefaultContext) -> Content
  ) { (self.schedule, self.content) = (schedule, content) }
}
extension TimelineView: View, _Leaf, Primitive where Content: View {
  func draw(on screen: Screen) {
    screen.timelines.append((schedule as? AnimationTimelineSchedule)?.isPaused ?? false)
    screen.draw(content(TimelineViewDefaultContext(date: screen.date)), "content")
  }
}
