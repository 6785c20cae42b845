#if canImport(Darwin)
  import Darwin
  import Pixels

  /// Private memory of this process.
  package enum ProcessMemory {
    /// Bytes that the system counts against this process: `phys_footprint` of task_info.
    package static func privateByteCount() -> Int {
      var info = task_vm_info_data_t()
      var count = mach_msg_type_number_t(
        MemoryLayout<task_vm_info_data_t>.size / MemoryLayout<integer_t>.size)
      let result = withUnsafeMutablePointer(to: &info) { pointer in
        pointer.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
          task_info(mach_task_self_, task_flavor_t(TASK_VM_INFO), $0, &count)
        }
      }
      return result == KERN_SUCCESS ? Int(info.phys_footprint) : 0
    }

    /// Returns freed memory to the system, so that later allocations show in the figures.
    package static func releaseFreeMemory() {
      SpareMemory.clearAll()
      malloc_zone_pressure_relief(nil, 0)
    }
  }
#endif
