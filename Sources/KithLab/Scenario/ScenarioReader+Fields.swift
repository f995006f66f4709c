import Yams

/// The entries of a mapping, taken one by one; what is left over is unknown.
struct Fields {
    private(set) var rest: [(name: String, key: Yams.Node, value: Yams.Node)] = []
    private var taken: Set<String> = []
    /// What the mapping describes, for messages.
    let subject: String
    /// The node itself, if it is no mapping.
    private(set) var notAMapping: Yams.Node?
    private(set) var known: [String] = []

    init(_ node: Yams.Node, _ subject: String) {
        self.subject = subject
        guard let mapping = node.mapping else {
            notAMapping = node
            return
        }
        rest = mapping.map { ($0.key.scalar?.string ?? "?", $0.key, $0.value) }
    }

    mutating func take(_ name: String) -> Yams.Node? {
        known.append(name)
        guard let index = rest.firstIndex(where: { $0.name == name }) else { return nil }
        taken.insert(name)
        return rest.remove(at: index).value
    }

    /// The name, if it was there.
    func first(_ name: String) -> String? { taken.contains(name) ? name : nil }
}

extension Yams.Node {
    /// Whether there is a key without a value.
    var isNothing: Bool { scalar.map { $0.string.isEmpty || $0.string == "~" || $0.string == "null" } ?? false }
}

extension ScenarioProblem {
    init(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
            self.init(line: mark.line, message: "This is not YAML: \(problem).")
        case .duplicatedKeysInMapping(let duplicates, let context):
            self.init(line: context.mark.line, message: "\(duplicates.joined(separator: ", ")): given twice.")
        default:
            self.init(line: 1, message: "This is not YAML: \(error)")
        }
    }
}

extension ScenarioReader {
    func report(_ node: Yams.Node?, _ message: String) {
        let problem = ScenarioProblem(line: node?.mark?.line ?? 1, message: message)
        if !problems.contains(problem) { problems.append(problem) }
    }

    /// A time that must be there; 1 if it is not.
    func required(_ value: Yams.Node?, _ name: String, _ node: Yams.Node) -> Int64 {
        if value == nil { report(node, "\u{201C}\(name)\u{201D} is missing: write a time such as 90s or 1d 2h.") }
        return time(value, name) ?? 1
    }

    /// Complains about fields that nobody knows. Returns whether there were none.
    @discardableResult
    func reject(_ fields: Fields) -> Bool {
        if let node = fields.notAMapping {
            report(node, "\(fields.subject) is a mapping with some of \(fields.known.joined(separator: ", ")).")
            return false
        }
        for entry in fields.rest {
            report(entry.key, "\(fields.subject) has no \u{201C}\(entry.name)\u{201D}; it has \(fields.known.joined(separator: ", ")).")
        }
        return fields.rest.isEmpty
    }

    func text(_ node: Yams.Node) -> String? {
        if let scalar = node.scalar { return scalar.string }
        report(node, "A single value is expected here.")
        return nil
    }

    func number(_ node: Yams.Node) -> UInt32? {
        guard let text = text(node) else { return nil }
        if let number = UInt32(text) { return number }
        report(node, "\u{201C}\(text)\u{201D} is no number from 0 to \(UInt32.max).")
        return nil
    }

    func list(_ node: Yams.Node?) -> [Yams.Node] {
        guard let node, !node.isNothing else { return [] }
        return node.sequence.map(Array.init) ?? [node]
    }

    func mapping(_ node: Yams.Node) -> [(key: Yams.Node, value: Yams.Node)] {
        if let mapping = node.mapping { return mapping.map { ($0.key, $0.value) } }
        report(node, "A mapping is expected here: name: value.")
        return []
    }

    func quantity(_ node: Yams.Node, _ parse: (String) -> Double?, _ example: String) -> Double? {
        guard let text = text(node) else { return nil }
        if let value = parse(text) { return value }
        report(node, "\u{201C}\(text)\u{201D} is not \(example).")
        return nil
    }

    func signedTime(_ node: Yams.Node) -> Int64? {
        quantity(node, Quantity.milliseconds, "a time such as 90s, 1d 2h or -3m, of ten years at most").map { Int64($0) }
    }

    func time(_ node: Yams.Node?, _ name: String) -> Int64? {
        guard let node, let milliseconds = signedTime(node) else { return nil }
        if milliseconds >= 0 { return milliseconds }
        report(node, "\u{201C}\(name)\u{201D} cannot be negative.")
        return nil
    }

    func timeBeforeEnd(_ node: Yams.Node, _ name: String) -> Int64? {
        let milliseconds = time(node, name)
        if let milliseconds, milliseconds > lastsMilliseconds {
            report(node, "This is after the end: the scenario lasts \(Quantity.span(Double(lastsMilliseconds))).")
        }
        return milliseconds
    }

    func choice<Choice: RawRepresentable & CaseIterable>(_ node: Yams.Node, _: Choice.Type, _ name: String) -> Choice?
    where Choice.RawValue == String {
        guard let text = text(node) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        report(
            node, "There is no \(name) \u{201C}\(text)\u{201D}; choose one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")).")
        return nil
    }

    /// One node, several, or `all`.
    func nodes(named node: Yams.Node) -> [Int] {
        list(node).flatMap { entry -> [Int] in
            guard let name = text(entry) else { return [] }
            if name == "all" { return Array(nodeNames.indices) }
            if let index = nodeNames.firstIndex(of: name) { return [index] }
            report(entry, "There is no node \u{201C}\(name)\u{201D}; there are \(nodeNames.joined(separator: ", ")).")
            return []
        }
    }

    func pair(_ node: Yams.Node) -> Scenario.Pair? {
        let found = nodes(named: node)
        guard found.count == 2, found[0] != found[1] else {
            report(node, "Two different nodes are expected here, as in [desk, laptop].")
            return nil
        }
        let pair = Scenario.Pair(found[0], found[1])
        if !topology.connects(pair, nodeCount: nodeNames.count) {
            report(node, "In a \(topology.rawValue) there is no link between \(nodeNames[pair.first]) and \(nodeNames[pair.second]).")
        }
        return pair
    }
}
