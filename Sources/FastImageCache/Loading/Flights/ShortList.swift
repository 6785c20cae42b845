/// A list of one element as a rule, which stands in place: only further ones take memory of their own.
///
/// Invariant: `others` is empty while there is no `first`.
struct ShortList<Element> {
  private var first: Element?
  private var others: [Element] = []

  mutating func append(_ element: Element) {
    if first == nil { first = element } else { others.append(element) }
  }

  mutating func remove(at index: Int) {
    if index > 0 {
      others.remove(at: index - 1)
    } else {
      first = others.isEmpty ? nil : others.removeFirst()
    }
  }

  mutating func removeAll(where isRemoved: (Element) -> Bool) {
    others.removeAll(where: isRemoved)
    if let element = first, isRemoved(element) { remove(at: 0) }
  }
}

extension ShortList: RandomAccessCollection, MutableCollection {
  var startIndex: Int { 0 }

  var endIndex: Int { first == nil ? 0 : others.count + 1 }

  subscript(index: Int) -> Element {
    get {
      if index > 0 { return others[index - 1] }
      guard let first else { preconditionFailure("An empty list has no element.") }
      return first
    }
    set {
      precondition(index < endIndex, "A list has no element at its end.")
      if index > 0 { others[index - 1] = newValue } else { first = newValue }
    }
  }
}

extension ShortList: ExpressibleByArrayLiteral {
  init(arrayLiteral elements: Element...) {
    for element in elements { append(element) }
  }
}

extension ShortList: Equatable where Element: Equatable {}

extension ShortList: Sendable where Element: Sendable {}
