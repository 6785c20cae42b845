import Dispatch
import Locking

/// How a load begins: with a task, or with a wait at its gate that takes none.
///
/// Most loads that are given up, as rows scroll past, have come no further than their gate. A task for each would be
/// most of their cost ([0037](../../../../Docs/Decisions/0037-loads-wait-without-a-task.md)).
extension InFlightRegistry {
  /// Starts the load of a flight.
  ///
  /// Called outside the lock, since making a task takes longer than all steps under it.
  ///
  /// - Parameter request: The one that began the flight.
  func start(_ flight: Flight, for request: ImageRequest) {
    tasks.enter()
    let plan = planner.planWithoutQuestions(of: flight, for: request)
    guard let plan, let need = plan.sourceNeed else { return work(on: flight, nil) }
    flight.progress.begin()
    let answer = flight.permit.queue(at: need) { [self] answer in
      guard flight.permit.endQueuing(answer) else { return tasks.leave() }
      flight.progress.end(\.wait)
      work(on: flight, plan, hasWaited: true)
    }
    guard let answer else { return }
    if flight.permit.endQueuing(answer) { work(on: flight, plan) } else { tasks.leave() }
  }

  /// Begins the task of a load. The registry owns it, and cancels it when the last waiter leaves or at `close()`.
  ///
  /// - Parameter hasWaited: Whether this is no thread of the flight's first request: the task gets no task-local
  ///   values then.
  private func work(on flight: Flight, _ plan: LoadPlan?, hasWaited: Bool = false) {
    let priority = flight.taskPriority.task
    // Without names, which cost each load an allocation.
    let task =
      hasWaited
      ? Task.detached(priority: priority) { [self] in await serve(flight, plan) }
      : ReentrancyContext.outside {
        Task(priority: priority) { [self] in await serve(flight, plan) }
      }
    let load = Load(flight: flight, task: task)
    let isWanted = state.withLock { $0.board.setLoad(load, of: flight.id) }
    // A waiter that left meanwhile, or `close()`, found no task to cancel.
    if !isWanted { task.cancel() }
  }

  private func serve(_ flight: Flight, _ plan: LoadPlan?) async {
    await run(flight, plan)
    tasks.leave()
  }
}

extension InFlightRegistry.Load {
  /// Ends a load whose flight has left the board, whether it works or waits at its gate without a task.
  func end() {
    task?.cancel()
    flight.permit.withdraw()
  }
}

extension LoadPlanner {
  /// The plan of a load that does nothing before it waits at its first gate; `nil` for one that may ask an entity for
  /// its own picture, or for a ring among the questions that led to the request, or that has a store of originals: a
  /// removal has to find each load that began before it, so that it keeps nothing. Without one the source is the first
  /// step.
  fileprivate func planWithoutQuestions(of flight: Flight, for request: ImageRequest) -> LoadPlan? {
    guard let url = flight.url, request.contexts.isEmpty, originals == nil,
      !OwnPictures.areExpected(of: request.entity)
    else { return nil }
    return plan(flight.policy, for: request, at: url, showsPlaceholder: flight.isPlaceholder)
  }
}
