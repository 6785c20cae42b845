import Foundation
import Locking

/// Worker threads, memory for decodes, and the two limiters that loads pass, shared by the caches that hold
/// one object.
///
/// ```swift
/// let resources = LoadResources(decodeByteBudget: 64 << 20)
/// var configuration = ImageCache.Configuration()
/// configuration.resources = resources
/// let photos = try await ImageCache(namespace: "photos", formats: [.row], configuration: configuration)
/// let avatars = try await ImageCache(namespace: "avatars", formats: [.row], configuration: configuration)
/// ```
///
/// A load of one cache then counts for the others, and the most urgent load of all of them is next; among
/// loads of one priority the first to wait is. Closing a cache ends its loads, whose places go to the
/// others as soon as their sources and decoders have ended. A load that waits for an image of any cache
/// leaves its limiter meanwhile, so caches that ask each other do not stall, however narrow the limiters are.
///
/// Decoding and drawing leave the processor to the program's other threads where both want it. On Linux they
/// run on threads that are 5 nicer than the main thread; on Apple platforms the quality of service says it. At all
/// times loads of a priority below `.medium` leave one of several places at each limiter to others.
///
/// On Linux a thread that is begun by a nicer one is as nice, for good. Drawing closures, the hook `willStore`, and
/// decoders of your own run on the nicer threads: in there, `Task { }`, cancelling or resuming a task,
/// `DispatchQueue.async` and `Thread` may begin a thread, those of Swift's own pool among them. Return what is to be
/// done instead, or signal a thread that is there already.
///
/// A worker that has drawn an image stores it too, and waits while its table is flushed or emptied. So
/// caches on a slow disk should have resources of their own.
///
/// Invariants:
/// 1. All loads of all caches that hold this object pass its limiters, and all their decodes and drawings
///    are jobs of its workers.
/// 2. No load waits for another load, of whichever cache, while it has a place at a limiter or a worker.
/// 3. Nothing in here refers to a cache: it ends with its last holder, and a cache ends without it.
public final class LoadResources: Sendable {
  package let workers: WorkerPool
  /// A load waits here before it asks its source, and leaves when it is over. So a thousand rows scrolled by cost the
  /// memory of a few files: disks are faster than decoders, and files that cannot be decoded yet wait unread. A
  /// download that broke off leaves for the pause before its retry, and its bytes are not bounded then.
  private let network: AdmissionQueue
  /// Apart, so that images on disk never queue behind downloads.
  private let local: AdmissionQueue
  /// How many loads the wider one of both admits.
  package let largestWidth: Int

  package subscript(need: LoadNeed) -> AdmissionQueue {
    switch need {
    case .network: network
    case .local: local
    }
  }

  /// Creates resources that no cache uses yet; threads begin with the first job.
  ///
  /// - Parameters:
  ///   - decodeWidth: How many images are decoded and drawn at the same time, at least one; `nil`
  ///     for the number of cores.
  ///   - decodeByteBudget: The private memory that all decodes together may take, in bytes, with their copies
  ///     in sRGB for ``ImageCache/Configuration/willStore``; without any, each image that
  ///     needs a decode is too large. Not counted: an image stays decoded while its
  ///     family is drawn, one for each load under way; the process keeps up to 8 MiB of freed decodes and, on
  ///     Linux, 64 MiB of the coefficients of progressive JPEG files for the next ones, until all its caches
  ///     are closed or suspended, or ``ImageCache/trimMemory(_:)``; and a decode may take a kept block of
  ///     twice the size that it needs.
  ///   - networkWidth: How many loads that need the network may be under way at the same time, at least
  ///     one. Keep it several times ``HTTPOptions/connectionsPerHost``, which is 6 by default, so that a
  ///     host that does not answer leaves turns to the others.
  ///   - localWidth: How many loads of files and other local sources may be under way at the same time,
  ///     at least one; `nil` for four more than there are cores. Each load holds its encoded bytes. A few
  ///     more loads than cores keep the cores busy while files are read.
  ///   - previewLoad: The part of one core that all previews may take together (``LoadOptions/previews``), from 0,
  ///     for none, to 1. A preview is drawn only while nothing waits for a worker, one at a time.
  public init(
    decodeWidth: Int? = nil, decodeByteBudget: Int = 256 << 20, networkWidth: Int = 18,
    localWidth: Int? = nil, previewLoad: Double = 0.1
  ) {
    workers = WorkerPool(
      name: "FastImageCache.worker", width: max(1, decodeWidth ?? Self.processorCount),
      byteBudget: max(0, decodeByteBudget), computes: true, idleLoad: previewLoad)
    let localWidth = localWidth ?? Self.processorCount + 4
    network = AdmissionQueue(width: max(1, networkWidth), reservesPlace: true)
    local = AdmissionQueue(width: max(1, localWidth), reservesPlace: true)
    largestWidth = max(1, networkWidth, localWidth)
  }

  /// Kept, since on Linux the answer takes reading a dozen files.
  private static let processorCount = max(ProcessInfo.processInfo.activeProcessorCount, 1)
}

/// The kind of resource that a load uses; it decides at which limiter the load waits for its turn.
package enum LoadNeed: Hashable, Sendable {
  /// Disk, memory, processor: bounded by the `localWidth` of ``LoadResources``.
  case local

  /// A network: bounded by the `networkWidth` of ``LoadResources``.
  case network
}

/// The permit of a limiter that one load holds, if any. Copies are the same permit.
///
/// A load that waits for another load returns its permit, since the other load may need it. It goes on
/// without a permit afterwards: the limiter does not count the bytes that it holds.
///
/// Invariants:
/// 1. A load holds at most one permit, and none while it waits at a limiter. So loads never wait for each
///    other's permits in a cycle.
/// 2. Each call that changes something takes a new `turn`. A permit that is granted for an earlier
///    turn is returned at once: the later call decides.
/// 3. Once `isClosed`, the load is over and goes on with no permit. After ``close()`` it holds none, and returns one
///    that comes later.
/// 4. `waitCount` counts the other loads that this one waits for. While it is not 0 the load holds no
///    permit, even if another of its tasks passes a limiter meanwhile.
package struct LoadPermit: Sendable {
  private struct Held {
    let limiter: AdmissionQueue
    let need: LoadNeed
    let id: Admission.JobID

    func giveBack() { limiter.finish(id) }
  }

  private struct State {
    var held: Held?
    var need: LoadNeed?
    var turn = 0
    var waitCount = 0
    var isClosed = false
  }

  private let resources: LoadResources
  private let urgency: Urgency
  private let state = Lock(State())

  package init(_ resources: LoadResources, urgency: Urgency) {
    (self.resources, self.urgency) = (resources, urgency)
  }

  /// The need of the limiter that the load passed last, whether or not it holds a permit still.
  package var need: LoadNeed? { state.withLock { $0.need } }

  /// Returns the permit of another limiter, if the load holds one, and waits at the limiter of `need`; does
  /// nothing if the load is inside that limiter already. A load that waits for another load waits here for
  /// its turn as well, and then goes on without a permit.
  ///
  /// - Throws: `CancellationError` when the task is cancelled while it waits, or if the load is over.
  package func acquire(_ need: LoadNeed) async throws {
    let (turn, former) = try state.withLock { state -> (Int?, Held?) in
      if state.isClosed { throw CancellationError() }
      state.need = need
      if state.held?.need == need { return (nil, nil) }
      state.turn += 1
      return (state.turn, state.held.take())
    }
    former?.giveBack()
    guard let turn else { return }
    let limiter = resources[need]
    let permit = Held(limiter: limiter, need: need, id: try await limiter.enter(urgency))
    let (isKept, isClosed) = state.withLock { state in
      let isKept = state.turn == turn && state.waitCount == 0
      if isKept { state.held = permit }
      return (isKept, state.isClosed)
    }
    if !isKept { permit.giveBack() }
    if isClosed { throw CancellationError() }
  }

  /// Returns the permit: the load needs no limiter for now.
  package func giveUp() { release { _ in } }

  /// Returns the permit, since the load waits for another load until ``endWait()``.
  package func beginWait() { release { $0.waitCount += 1 } }

  package func endWait() { state.withLock { $0.waitCount -= 1 } }

  /// Returns the permit for good: the load is over, even if one of its tasks still waits at a limiter.
  package func close() { release { $0.isClosed = true } }

  /// Lets the load acquire no permit any more; one that it holds stays until ``close()``. So where several loads are
  /// given up, none goes on with the permit that another one returns.
  package func refuse() { state.withLock { $0.isClosed = true } }

  private func release(_ change: (inout State) -> Void) {
    let held = state.withLock { state in
      state.turn += 1
      change(&state)
      return state.held.take()
    }
    held?.giveBack()
  }
}
