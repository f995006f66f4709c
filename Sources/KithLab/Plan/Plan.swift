import KithTesting

/// A scenario laid out in time: a pure function of the file, so that the same file asks for the same.
package struct Plan: Equatable, Sendable {
    package struct Step: Equatable, Sendable {
        /// When it is done, from the start of the run, and when that is in the scenario's own time.
        package var atMilliseconds: Int64
        var scenarioMilliseconds: Int64
        package var action: Scenario.Action
    }

    /// By time; steps of one moment in the order of the file.
    package let steps: [Step]

    package init(_ scenario: Scenario) {
        var events = scenario.events
        for (number, workload) in scenario.workloads.enumerated() {
            var writer = RandomWriter(seed: scenario.seed &+ UInt64(number) &* 0x9E37_79B9, prefix: number == 0 ? "" : "\(number)-")
            events += writer.events(workload)
        }
        let scale = Double(scenario.takesMilliseconds) / Double(max(1, scenario.lastsMilliseconds))
        let sorted = events.enumerated().sorted { ($0.element.atMilliseconds, $0.offset) < ($1.element.atMilliseconds, $1.offset) }
        steps = sorted.map { _, event in
            Step(
                atMilliseconds: Int64(Double(event.atMilliseconds) * scale), scenarioMilliseconds: event.atMilliseconds,
                action: event.action)
        }
    }
}

/// Draws writes that people could make; every value is written once, so that it can be told where it went.
private struct RandomWriter {
    private static let words = [
        "Bread", "Coffee", "Rent", "Dentist", "Garden", "Ideas", "Letter", "Recipe", "Train", "Books", "Birthday", "Taxes", "Bicycle",
        "Holiday", "Choir", "Lentils",
    ]
    /// Bytes; the largest is 32 times as large.
    private static let smallestFile = 65_536
    private static let colors = ["yellow", "green", "blue", "red", "none"]

    private var random: SplitMix64
    private let prefix: String
    private var made = 0
    private var notesMade = 0
    private var notes: [String] = []
    private var tags: [(note: String, tag: String)] = []

    init(seed: UInt64, prefix: String) {
        random = SplitMix64(seed: seed)
        self.prefix = prefix
    }

    mutating func events(_ workload: Scenario.Workload) -> [Scenario.Event] {
        var events: [Scenario.Event] = []
        var at = workload.fromMilliseconds
        while at < workload.untilMilliseconds, !workload.nodes.isEmpty, !workload.kinds.isEmpty {
            events.append(Scenario.Event(atMilliseconds: at, action: draw(workload)))
            // Between a half and one and a half times as long.
            at += max(1, Int64(Double(workload.everyMilliseconds) * (0.5 + Double(random.next() >> 11) / 9_007_199_254_740_992)))
        }
        return events
    }

    private mutating func draw(_ workload: Scenario.Workload) -> Scenario.Action {
        let node = pick(workload.nodes)
        var kind = pick(workload.kinds)
        // People keep most of what they write.
        if kind == .delete, random.next() % 4 != 0, let other = workload.kinds.first(where: { $0 != .delete }) { kind = other }
        made += 1
        let value = "\(pick(Self.words)) \(prefix)\(made)"
        // Few notes, so that machines meet in them.
        let canAdd = workload.kinds.contains(.add)
        if notes.isEmpty || kind == .add && (notes.count < 4 || random.next() % 3 == 0) || notes.count < 2 && canAdd {
            notesMade += 1
            let note = "\(prefix)note\(notesMade)"
            notes.append(note)
            return .write(node: node, note: note, .add(title: value))
        }
        let note = notes.count > 6 ? pick(Array(notes.suffix(6))) : pick(notes)
        switch kind {
        case .add, .title: return .write(node: node, note: note, .title(value))
        case .line: return .write(node: node, note: note, .line(value))
        case .color: return .write(node: node, note: note, .color(pick(Self.colors)))
        case .tag:
            let tag = "t\(prefix)\(made)"
            tags.append((note, tag))
            return .write(node: node, note: note, .tag(tag))
        case .untag:
            guard !tags.isEmpty else { return .write(node: node, note: note, .title(value)) }
            let index = Int(random.next() % UInt64(tags.count))
            let tag = tags.remove(at: index)
            return .write(node: node, note: tag.note, .untag(tag.tag))
        case .attach: return .write(node: node, note: note, .attach(bytes: Self.smallestFile << (random.next() % 6)))
        case .delete:
            // Some of what is deleted is written to all the same, by those who do not know it yet.
            if random.next() % 4 != 0 { notes.removeAll { $0 == note } }
            return .write(node: node, note: note, .delete)
        }
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(random.next() % UInt64(elements.count))]
    }
}
