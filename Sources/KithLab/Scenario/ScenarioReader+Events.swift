import KithNotes
import Yams

extension ScenarioReader {
    /// What happens at one moment: `at`, and one or more actions.
    func events(_ node: Yams.Node) -> [Scenario.Event] {
        var fields = Fields(node, "an event")
        guard let at = fields.take("at").flatMap({ timeBeforeEnd($0, "at") }) else {
            if fields.first("at") == nil { report(node, "\u{201C}at\u{201D} is missing: say when, as in at: 1d 2h.") }
            return []
        }
        let problemsBefore = problems.count
        var actions: [Scenario.Action] = []
        for (name, make) in Self.ofNodes {
            guard let value = fields.take(name) else { continue }
            let nodes = nodes(named: value)
            // `fill` would fill the disk of the machine on which the lab runs, for the node keeps its files there.
            if name == "fill", let node = nodes.first(where: { !nodesWithDisks.contains($0) }) {
                report(value, "\(nodeNames[node]) has no disk of its own to fill. Give it one, as in \(nodeNames[node]): {disk: 8MB}.")
            }
            actions += nodes.map(make)
        }
        for (name, make) in Self.ofPairs {
            if let value = fields.take(name), let pair = pair(value) { actions.append(make(pair)) }
        }
        if let value = fields.take("clock") {
            for (key, offset) in mapping(value) {
                guard let milliseconds = signedTime(offset) else { continue }
                actions += nodes(named: key).map { .clock($0, milliseconds: milliseconds) }
            }
        }
        if let value = fields.take("link"), let (pair, link) = pairAndLink(value, like: Scenario.Link()) {
            actions.append(.link(pair, link))
        }
        if let value = fields.take("write") { actions += list(value).flatMap { write($0, at: at) } }
        reject(fields)
        for action in actions {
            switch action {
            case .lose, .recover: losses.append((at, action, node))
            default: break
            }
        }
        if actions.isEmpty, problems.count == problemsBefore { report(node, "Nothing happens here: add an action, such as cut: NODE.") }
        return actions.map { Scenario.Event(atMilliseconds: at, action: $0) }
    }

    private static let ofNodes: [(String, @Sendable (Int) -> Scenario.Action)] = [
        ("cut", { .cut($0) }), ("heal", { .heal($0) }), ("start", { .start($0) }), ("stop", { .stop($0) }), ("kill", { .kill($0) }),
        ("pause", { .pause($0) }), ("resume", { .resume($0) }), ("fill", { .fill($0) }), ("free", { .free($0) }),
        ("move", { .move($0) }), ("empty", { .lose($0, .emptied) }), ("remove", { .lose($0, .missing) }), ("recover", { .recover($0) }),
    ]

    private static let ofPairs: [(String, @Sendable (Scenario.Pair) -> Scenario.Action)] = [
        ("part", { .part($0) }), ("join", { .join($0) }),
    ]

    private func write(_ node: Yams.Node, at: Int64) -> [Scenario.Action] {
        var fields = Fields(node, "a write")
        let on = fields.take("on").map { nodes(named: $0) } ?? []
        let note = fields.take("note").flatMap(text)
        var changes: [Scenario.Change] = []
        for kind in Scenario.Change.Kind.allCases {
            guard let value = fields.take(kind.rawValue), let change = change(kind, value) else { continue }
            changes.append(change)
        }
        let isComplete = reject(fields)
        if on.isEmpty, isComplete { report(node, "\u{201C}on\u{201D} is missing: say on which node.") }
        guard let note else {
            report(node, "\u{201C}note\u{201D} is missing: give the note a name, which later writes use.")
            return []
        }
        if changes.isEmpty, isComplete {
            let kinds = Scenario.Change.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            report(node, "Nothing is written: add one of \(kinds).")
        }
        for change in on.flatMap({ _ in changes }) {
            writes.append(PlacedWrite(atMilliseconds: at, note: note, isAddition: change.kind == .add, place: node))
        }
        return on.flatMap { node in changes.map { .write(node: node, note: note, $0) } }
    }

    private func change(_ kind: Scenario.Change.Kind, _ value: Yams.Node) -> Scenario.Change? {
        if kind == .attach {
            guard let bytes = quantity(value, Quantity.bytes, "a size such as 300KB") else { return nil }
            if bytes > Double(Scenario.attachmentBytesMax) {
                report(value, "An attachment of a scenario has at most \(Quantity.size(Scenario.attachmentBytesMax)).")
            }
            return .attach(bytes: Int(bytes))
        }
        guard let text = text(value) else { return nil }
        check(kind, text, at: value)
        return switch kind {
        case .add: .add(title: text)
        case .title: .title(text)
        case .line: .line(text)
        case .color: .color(text)
        case .tag: .tag(text)
        case .untag: .untag(text)
        case .delete, .attach: .delete
        }
    }
}

extension ScenarioReader {
    /// Complains about what a node would refuse, or take for something else.
    private func check(_ kind: Scenario.Change.Kind, _ text: String, at value: Yams.Node) {
        switch kind {
        case .add, .title:
            if text.utf8.count > NoteLimits.titleBytesMax {
                report(value, "A title has at most \(NoteLimits.titleBytesMax) bytes, not \(text.utf8.count).")
            } else if text.isEmpty || (try? NoteLimits.checkTitle(text)) == nil {
                report(value, "A title is one line that can be seen.")
            }
        case .color:
            if !NoteColor.named.contains(where: { $0.name == text }) {
                let names = NoteColor.named.map(\.name).joined(separator: ", ")
                report(value, "There is no color \u{201C}\(text)\u{201D}; choose one of \(names).")
            }
        case .tag, .untag:
            // A # before a tag is no part of it.
            if text.hasPrefix("#") { report(value, "\u{201C}\(text)\u{201D} is not a tag. A tag is one word; write it without #.") }
            do throws(NotesError) {
                try NoteLimits.checkTag(text)
            } catch {
                report(value, error.message)
            }
        case .delete:
            if !["yes", "true"].contains(text) { report(value, "\u{201C}delete\u{201D} is yes, or is left out.") }
        case .line, .attach: break
        }
    }

    /// Complains about nodes that recover although nothing took their notes away.
    func checkLosses() {
        var lost: Set<Int> = []
        for (_, loss) in losses.enumerated().sorted(by: { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }) {
            switch loss.action {
            case .lose(let node, _): lost.insert(node)
            case .recover(let node) where lost.remove(node) == nil:
                report(loss.place, "\(nodeNames[node]) has all its notes then; empty or remove them first.")
            default: break
            }
        }
    }
}

extension Scenario.Change {
    var kind: Kind {
        switch self {
        case .add: .add
        case .title: .title
        case .line: .line
        case .color: .color
        case .tag: .tag
        case .untag: .untag
        case .delete: .delete
        case .attach: .attach
        }
    }
}
