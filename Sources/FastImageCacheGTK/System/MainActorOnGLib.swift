#if GTK && canImport(CGTK)
  import CGTK
  import Dispatch

  /// Lets GLib's main loop run the jobs of the main actor.
  ///
  /// On Linux these go to libdispatch's main queue, which nobody drains while GTK's loop runs: a
  /// `Task { @MainActor in … }` never begins. The images of this module need no such thing; a program whose
  /// own code awaits on the main actor does.
  ///
  /// libdispatch tells of jobs by a file descriptor that it has for CoreFoundation's run loop. GLib polls
  /// it and has them run. `Task.sleep` and `DispatchQueue.main` work then; `RunLoop.main` and `Timer` do not.
  public enum MainActorOnGLib {
    @MainActor private static var source: guint = 0

    /// Attaches the jobs to GLib's default main context, once; a second call changes nothing.
    ///
    /// Call it before the program's first `await`, from a `main` that is not `async`: after that, Swift's
    /// main thread is no longer the thread of the process that GTK runs on.
    ///
    /// All jobs that wait run at once: a thousand jobs of 0.5 ms cost the frames of half a second.
    ///
    /// - Parameter priority: Of the jobs among GLib's sources, lower numbers first. By default that of
    ///   events, before layout (110) and drawing (120).
    @MainActor public static func attach(priority: Int32 = 0) {
      guard source == 0 else { return }
      source = g_unix_fd_add_full(
        priority, fic_gtk_main_queue_descriptor(), G_IO_IN,
        { descriptor, _, _ in
          fic_gtk_run_main_queue(descriptor)
          return true.asBoolean
        }, nil, nil)
    }
  }
#endif
