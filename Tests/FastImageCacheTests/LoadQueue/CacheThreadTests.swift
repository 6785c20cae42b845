#if os(Linux)
  import Glibc
  import Locking
  import TestSupport
  import Testing

  @testable import FastImageCache
  @testable import LoadQueue

  @Suite("A cache's threads", .timeLimit(.minutes(10)))
  struct CacheThreadTests {
    /// Whether the calling thread runs the computing step of a job.
    private static var computes: Bool { WorkerThread.normalOfComputing != nil }

    @Test("decode in the computing step, and answer, report and tell events outside it")
    func load() async throws {
      let decodes = Lock<[Bool]>([])
      let decoder = SketchDecoder(willDecode: { decodes.withLock { $0.append(Self.computes) } })
      let sketch = try await SketchFixture(decoder: decoder)
      let cache = sketch.cache
      // Of low priority, to have a computing step on a thread of its own. Each reader goes on where its reader is told.
      let (steps, events) = (Lock<[String: Bool]>([:]), Lock<[String: Bool]>([:]))
      var low = LoadOptions()
      low.priority = RequestPriority(.low)
      let options = low
      let progress = cache.progress(for: Photo("1"), format: .row, options: options)
      let told = cache.events(bufferSize: 100)
      async let reading: Void = InlineExecutor.run {
        for await step in progress {
          steps.withLock { $0["\(step)"] = Self.computes }
        }
      }
      async let hearing: Void = InlineExecutor.run {
        for await event in told {
          if case .decoded = event { events.withLock { $0["decoded"] = Self.computes } }
          if case .stored = event { return }
        }
      }
      async let answering: Void = InlineExecutor.run {
        _ = try await cache.image(for: Photo("1"), format: .row, options: options)
        #expect(!Self.computes)
      }
      await sketch.fixture.subscribers(2)
      sketch.finish()
      _ = try await (reading, hearing, answering)
      #expect(decodes.withLock { $0 } == [true])
      #expect(steps.withLock { [$0["decoding"], $0["drawing"]] } == [false, false])
      #expect(events.withLock { $0 } == ["decoded": false])
    }

    @Test("draw previews on a nicer thread, and show them on another one")
    func preview() async throws {
      let (nicenesses, shown) = (Lock<[Int32]>([]), Counter())
      let oneThread = __priority_which_t(PRIO_PROCESS.rawValue)
      let decoder = SketchDecoder(willEnd: { _ in
        nicenesses.withLock { $0.append(Self.computes ? getpriority(oneThread, 0) : -20) }
      })
      let sketch = try await SketchFixture(decoder: decoder)
      let steps = sketch.cache.progress(
        for: Photo("1"), format: .row, options: .previewing)
      async let reading: Void = InlineExecutor.run {
        for await step in steps where step.preview != nil {
          #expect(!Self.computes)
          shown.increment()
        }
      }
      await sketch.fixture.subscribers(1)
      await sketch.step(100)
      await shown.reaches(1)
      sketch.finish()
      try await reading
      let main = getpriority(oneThread, id_t(getpid()))
      let seen = nicenesses.withLock { $0 }
      #expect(
        seen.count == 1 && seen.allSatisfy { $0 >= min(main + WorkerThread.niceness, 19) })
    }
  }
#endif
