import CommandSupport
import Foundation

/// Children that meet the limits of the system.
struct Limits {
  let findings: Findings

  func run() throws {
    for limit in LimitedWork.Limit.allCases where limit != .disk {
      let folder = try TemporaryFolder(prefix: "imagecache-torture")
      try run(limit, in: folder.url.path)
    }
    let folder = try TemporaryFolder(prefix: "imagecache-torture")
    guard SmallDisk.mount(at: folder.url.path, byteCount: 1 << 20) else {
      Console.note("faults: a small file system cannot be mounted here; no disk was full.")
      return
    }
    defer { SmallDisk.unmount(folder.url.path) }
    try run(.disk, in: folder.url.path)
  }

  private func run(_ limit: LimitedWork.Limit, in path: String) throws {
    let child = try ChildProcess([ChildRole.word, "limit", path, String(limit.rawValue)])
    switch child.ending() {
    case .exit(ChildVerdict.done): findings.count("limits met")
    case .exit(ChildVerdict.sawWrongImage):
      findings.report(.wrongImage, "with a limit of \(limit)")
    case .exit(let code): findings.report(.other, "exit code \(code) with a limit of \(limit)")
    case .signal(let number): findings.report(.crash, "signal \(number) with a limit of \(limit)")
    }
  }
}
