import Yams

extension ScenarioReader {
    /// A write of the file, and where it stands there.
    struct PlacedWrite {
        let atMilliseconds: Int64
        let note: String
        let isAddition: Bool
        let place: Yams.Node
    }

    /// Complains about writes that nobody could make: to notes that are not added, or not yet. And about names of several notes.
    func checkNotes(_ scenario: Scenario) {
        // Those that are drawn come after the file's own of the same moment.
        var drawn = scenario
        drawn.events = []
        var added: [String: Int64] = [:]
        for step in Plan(drawn).steps {
            if case .write(_, let note, .add) = step.action, added[note] == nil { added[note] = step.scenarioMilliseconds }
        }
        let drawnNotes = Set(added.keys)
        let writes = writes.enumerated().sorted { ($0.element.atMilliseconds, $0.offset) < ($1.element.atMilliseconds, $1.offset) }
        let own = Set(writes.filter(\.element.isAddition).map(\.element.note))
        var seen: Set<String> = []
        for (_, write) in writes {
            let name = "\u{201C}\(write.note)\u{201D}"
            if write.isAddition {
                if !seen.insert(write.note).inserted || drawnNotes.contains(write.note) {
                    report(write.place, "The note \(name) is added more than once; a name stands for one note, so use another one.")
                }
            } else if !own.contains(write.note), !drawnNotes.contains(write.note) {
                let names = own.sorted().joined(separator: ", ")
                report(write.place, "No write adds the note \(name); \(names.isEmpty ? "none is added" : "added are \(names)").")
            } else if !seen.contains(write.note), added[write.note].map({ $0 >= write.atMilliseconds }) ?? true {
                report(write.place, "The note \(name) is written to before it is added.")
            }
        }
    }
}
