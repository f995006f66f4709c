import KithCausality

@testable import KithText

/// FugueMax as a tree, as its paper defines it, with visibility by explicit sets of ancestors: the judge.
///
/// An insertion between `a`, the visible character to the left, and `b`, the next one in the list, deleted ones
/// included, becomes a right child of `a` if `b` is not below `a`, else a left child of `b`. Left children go by name;
/// right children by right origin, the farthest first, then by name.
/// Weidner and Kleppmann, "The Art of the Fugue", 2025.
struct TreeOracle {
    private struct Node {
        let scalar: Unicode.Scalar
        /// The bit of the change that inserted it.
        let change: UInt64
        let dot: Dot
        let index: Int
        let parent: Int?
        let rightOrigin: Int?
        var leftChildren: [Int] = []
        var rightChildren: [Int] = []
        var deletedBy: UInt64 = 0
    }

    private var nodes: [Node] = []
    private var roots: [Int] = []
    private var order: [Int] = []

    static func text(_ changes: [TextChange]) -> String {
        var oracle = TreeOracle()
        let graph = NaiveGraph(changes)
        for index in changes.indices { oracle.apply(changes[index], index, graph.ancestors[index], graph.surroundings[index]) }
        var result = String.UnicodeScalarView()
        for node in oracle.order where oracle.nodes[node].deletedBy == 0 { result.append(oracle.nodes[node].scalar) }
        return String(result)
    }

    private mutating func apply(_ change: TextChange, _ index: Int, _ ancestors: UInt64, _ surroundings: UInt64) {
        let bit = UInt64(1) << UInt64(index)
        let known = ancestors | bit
        let around = surroundings | bit
        var event = 0
        for operation in change.operations {
            switch operation {
            case .insert(let text, let position):
                for (offset, scalar) in text.unicodeScalars.enumerated() {
                    insert(scalar, position + offset, known, around, bit, change.dot, event)
                    event += 1
                }
            case .delete(let count, let position):
                for _ in 0..<count {
                    nodes[visible(known)[position]].deletedBy |= bit
                    event += 1
                }
            }
        }
    }

    private func visible(_ known: UInt64) -> [Int] {
        order.filter { nodes[$0].change & known != 0 && nodes[$0].deletedBy & known == 0 }
    }

    private mutating func insert(
        _ scalar: Unicode.Scalar, _ position: Int, _ known: UInt64, _ around: UInt64, _ bit: UInt64, _ dot: Dot, _ event: Int
    ) {
        let left = position > 0 ? visible(known)[position - 1] : nil
        let list = order.filter { nodes[$0].change & around != 0 }
        let next = left.map { (list.firstIndex(of: $0) ?? -1) + 1 } ?? 0
        let right = next < list.count ? list[next] : nil
        let id = nodes.count
        func node(_ parent: Int?, _ rightOrigin: Int?) -> Node {
            Node(scalar: scalar, change: bit, dot: dot, index: event, parent: parent, rightOrigin: rightOrigin)
        }
        if let right, isBelow(right, left) {
            nodes.append(node(right, nil))
            nodes[right].leftChildren.append(id)
            nodes[right].leftChildren.sort(by: precedes)
        } else {
            nodes.append(node(left, right))
            if let left {
                nodes[left].rightChildren.append(id)
                nodes[left].rightChildren.sort(by: precedesByOrigin)
            } else {
                roots.append(id)
                roots.sort(by: precedesByOrigin)
            }
        }
        order = []
        for root in roots { visit(root) }
    }

    private mutating func visit(_ node: Int) {
        for child in nodes[node].leftChildren { visit(child) }
        order.append(node)
        for child in nodes[node].rightChildren { visit(child) }
    }

    private func isBelow(_ node: Int, _ ancestor: Int?) -> Bool {
        guard let ancestor else { return true }
        var next = nodes[node].parent
        while let current = next {
            if current == ancestor { return true }
            next = nodes[current].parent
        }
        return false
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        (nodes[left].dot, nodes[left].index) < (nodes[right].dot, nodes[right].index)
    }

    private func precedesByOrigin(_ left: Int, _ right: Int) -> Bool {
        func place(_ node: Int) -> Int {
            nodes[node].rightOrigin.flatMap { order.firstIndex(of: $0) } ?? .max
        }
        let (a, b) = (place(left), place(right))
        return a == b ? precedes(left, right) : a > b
    }
}
