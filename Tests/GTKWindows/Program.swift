#if GTK && canImport(CGTK)
  import CGTK
  import CommandSupport
  import Foundation

  /// Plays acts in real windows, one after the other, and fails if one of them found a fault.
  ///
  /// Not asynchronous: GTK runs on the thread that Swift's main actor has until the first `await`.
  @main
  struct WindowsProgram {
    static func main() {
      do {
        let script = try Script(CommandLine.arguments.dropFirst())
        exit(try play(script).rawValue)
      } catch let usage as UsageError {
        Console.note("gtk-windows: \(usage)\n\n\(Script.help)")
        exit(ExitStatus.usage.rawValue)
      } catch {
        Console.note("gtk-windows: \(error)")
        exit(ExitStatus.failure.rawValue)
      }
    }

    @MainActor private static func play(_ script: Script) throws -> ExitStatus {
      if script.isHelpWanted {
        Console.print(Script.help)
        return .success
      }
      // GTK notes what a screen reader would be told.
      setenv("GTK_A11Y", "test", 1)
      guard gtk_init_check() != 0 else {
        Console.note("gtk-windows: There is no display; `xvfb-run -a` starts one.")
        return .usage
      }
      // An act that waits for what never comes ends here, with SIGALRM.
      alarm(script.timeLimit)
      var faultCount = checkDisplay(script)
      for act in script.acts {
        let findings = Findings(act.name)
        try act.play(script, findings)
        Console.print(findings.summary)
        faultCount += findings.faultCount
      }
      if faultCount > 0 {
        Console.note("gtk-windows: \(faultCount) faults, seed \(script.seed).")
        return .failure
      }
      return .success
    }

    /// GTK falls back to another renderer or scale where there is not the one that was asked for.
    ///
    /// - Returns: How many faults there are.
    @MainActor private static func checkDisplay(_ script: Script) -> Int {
      let findings = Findings("display")
      let window = gtk_window_new().unsafelyUnwrapped
      gtk_window_present(UnsafeMutablePointer<GtkWindow>(OpaquePointer(window)))
      Loop.turn { gtk_widget_get_mapped(window) != 0 }
      let renderer = gtk_native_get_renderer(OpaquePointer(window)).unsafelyUnwrapped
      let type = String(
        cString: g_type_name_from_instance(
          UnsafeMutableRawPointer(renderer).assumingMemoryBound(to: GTypeInstance.self)))
      let scale = Int(gtk_widget_get_scale_factor(window))
      gtk_window_destroy(UnsafeMutablePointer<GtkWindow>(OpaquePointer(window)))
      Loop.settle()
      findings.expect(
        script.expectedRenderer ?? type == type, "windows are drawn by \(type)")
      findings.expect(script.expectedScale ?? scale == scale, "a point has \(scale) pixels")
      Console.print("display: \(type), scale \(scale)")
      return findings.faultCount
    }
  }
#else
  import CommandSupport

  @main
  struct WindowsProgram {
    static func main() { Console.note("gtk-windows: Enable the package trait \"GTK\", on Linux.") }
  }
#endif
