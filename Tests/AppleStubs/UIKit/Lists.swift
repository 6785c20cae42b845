public import Foundation

extension IndexPath {
  public init(item: Int, section: Int) { self = [section, item] }
  public init(row: Int, section: Int) { self = [section, row] }
  public var section: Int { self[0] }
  public var item: Int { self[1] }
  public var row: Int { self[1] }
}

@MainActor open class UICollectionReusableView: UIView {
  open func prepareForReuse() {}
}

@MainActor open class UICollectionViewCell: UICollectionReusableView {
  /// `required`, so that the list can make cells of a class: Apple's runtime needs no word for that.
  public required override init(frame: CGRect) { super.init(frame: frame) }
  public let contentView = UIView(frame: .zero)
}

@MainActor public protocol UICollectionViewDataSource: NSObjectProtocol {
  func collectionView(_ collectionView: UICollectionView, numberOfItemsInSection section: Int)
    -> Int
  func collectionView(_ collectionView: UICollectionView, cellForItemAt indexPath: IndexPath)
    -> UICollectionViewCell
}

@MainActor public protocol UICollectionViewDelegate: NSObjectProtocol {
  func collectionView(
    _ collectionView: UICollectionView, didEndDisplaying cell: UICollectionViewCell,
    forItemAt indexPath: IndexPath)
}

@MainActor public protocol UICollectionViewDataSourcePrefetching: NSObjectProtocol {
  func collectionView(_ collectionView: UICollectionView, prefetchItemsAt indexPaths: [IndexPath])
  func collectionView(
    _ collectionView: UICollectionView, cancelPrefetchingForItemsAt indexPaths: [IndexPath])
}
extension UICollectionViewDataSourcePrefetching {
  public func collectionView(
    _ collectionView: UICollectionView, cancelPrefetchingForItemsAt indexPaths: [IndexPath]
  ) {}
}

@MainActor open class UICollectionViewLayout: NSObject {}
@MainActor open class UICollectionViewFlowLayout: UICollectionViewLayout {}

/// Shows the cells that a test asks for, and reuses those that went.
@MainActor open class UICollectionView: UIView {
  open weak var dataSource: (any UICollectionViewDataSource)?
  open weak var delegate: (any UICollectionViewDelegate)?
  open weak var prefetchDataSource: (any UICollectionViewDataSourcePrefetching)?
  private var classes: [String: UICollectionViewCell.Type] = [:]
  private var unused: [String: [UICollectionViewCell]] = [:]
  private var identifiers: [ObjectIdentifier: String] = [:]
  private var shown: [IndexPath: UICollectionViewCell] = [:]

  open func register(_ cellClass: AnyClass?, forCellWithReuseIdentifier identifier: String) {
    classes[identifier] = cellClass as? UICollectionViewCell.Type
  }

  open func dequeueReusableCell(
    withReuseIdentifier identifier: String, for indexPath: IndexPath
  ) -> UICollectionViewCell {
    if let cell = unused[identifier]?.popLast() {
      cell.prepareForReuse()
      return cell
    }
    guard let type = classes[identifier] else { preconditionFailure("Nothing is registered.") }
    let cell = type.init(frame: .zero)
    identifiers[ObjectIdentifier(cell)] = identifier
    return cell
  }

  public func _show(_ path: IndexPath) -> UICollectionViewCell? {
    shown[path] = dataSource?.collectionView(self, cellForItemAt: path)
    return shown[path]
  }

  public func _hide(_ path: IndexPath) {
    guard let cell = shown.removeValue(forKey: path) else { return }
    delegate?.collectionView(self, didEndDisplaying: cell, forItemAt: path)
    unused[identifiers[ObjectIdentifier(cell)] ?? "", default: []].append(cell)
  }
}

@MainActor open class UIViewController: NSObject {
  private var isLoaded = false
  public override init() { super.init() }
  public required init?(coder: NSCoder) { super.init() }
  open func viewDidLoad() {}
  open func loadViewIfNeeded() {
    if isLoaded { return }
    isLoaded = true
    viewDidLoad()
  }
}

@MainActor
open class UICollectionViewController: UIViewController, UICollectionViewDataSource,
  UICollectionViewDelegate
{
  public let collectionView: UICollectionView! = UICollectionView(frame: .zero)

  public init(collectionViewLayout layout: UICollectionViewLayout) {
    super.init()
    (collectionView.dataSource, collectionView.delegate) = (self, self)
  }
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
    (collectionView.dataSource, collectionView.delegate) = (self, self)
  }

  open func collectionView(
    _ collectionView: UICollectionView, numberOfItemsInSection section: Int
  ) -> Int { 0 }
  open func collectionView(
    _ collectionView: UICollectionView, cellForItemAt indexPath: IndexPath
  ) -> UICollectionViewCell { UICollectionViewCell(frame: .zero) }
  open func collectionView(
    _ collectionView: UICollectionView, didEndDisplaying cell: UICollectionViewCell,
    forItemAt indexPath: IndexPath
  ) {}
}

@MainActor public protocol UITableViewDataSourcePrefetching: NSObjectProtocol {
  func tableView(_ tableView: UITableView, prefetchRowsAt indexPaths: [IndexPath])
  func tableView(_ tableView: UITableView, cancelPrefetchingForRowsAt indexPaths: [IndexPath])
}
extension UITableViewDataSourcePrefetching {
  public func tableView(
    _ tableView: UITableView, cancelPrefetchingForRowsAt indexPaths: [IndexPath]
  ) {}
}

@MainActor open class UITableViewCell: UIView {
  public enum CellStyle: Int, Sendable { case `default`, value1, value2, subtitle }

  public let contentView = UIView(frame: .zero)

  public init(style: UITableViewCell.CellStyle, reuseIdentifier: String?) {
    super.init(frame: .zero)
  }
  public required init?(coder: NSCoder) { super.init(frame: .zero) }
  open func prepareForReuse() {}
}

/// Makes no cells: their code is compiled, and not run.
@MainActor open class UITableView: UIView {
  public enum Style: Int, Sendable { case plain, grouped, insetGrouped }

  open weak var prefetchDataSource: (any UITableViewDataSourcePrefetching)?
  open var rowHeight: CGFloat = -1
  open func register(_ cellClass: AnyClass?, forCellReuseIdentifier identifier: String) {}
  open func dequeueReusableCell(
    withIdentifier identifier: String, for indexPath: IndexPath
  ) -> UITableViewCell { UITableViewCell(style: .default, reuseIdentifier: identifier) }
}
