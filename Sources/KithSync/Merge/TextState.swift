import KithCausality

/// A text cell: who wrote it, whether it is NULL, and the changes that made its text.
///
/// Changes are only ever added, so merging them is a union; what the text is follows from them alone (KithText). They are
/// carried as the bytes they arrived in: a replica that cannot read one still passes it on.
package struct TextState: Hashable, Sendable {
    /// What one commit did to the text.
    package struct Change: Hashable, Sendable {
        package var stamp: Stamp
        /// The version its author saw, sorted by dot.
        package var parents: [Dot]
        /// Scalars of the whole text its author saw, if the change is a restart, which begins by deleting them all: the history before
        /// it is not needed to know what it left.
        package var replacedScalars: Int?
        /// The operations, as KithText encodes them.
        package var steps: [UInt8]
        /// All inserted text, as UTF-8.
        package var inserted: [UInt8]
        /// Which document it is a change of: ``AdoptedTexts/Document/number``.
        package var document: Int64 = 0

        /// What tells the changes of a cell apart: a commit may make one of each document.
        package struct Name: Hashable, Sendable {
            let dot: Dot
            let document: Int64
        }

        package var name: Name { Name(dot: stamp.dot, document: document) }

        package init(stamp: Stamp, parents: [Dot], replacedScalars: Int? = nil, steps: [UInt8], inserted: [UInt8]) {
            self.stamp = stamp
            self.parents = parents
            self.replacedScalars = replacedScalars
            self.steps = steps
            self.inserted = inserted
        }
    }

    /// Where the changes before now are, as a store keeps them; on the wire this is not said.
    package enum Past: Hashable, Sendable {
        /// There are none: nobody has typed a character yet.
        case none
        /// One change has inserted the text as it is now.
        case one(Stamp)
        /// They are kept beside the row.
        case kept
    }

    /// Per replica its last commit that changed this cell.
    package var touched: VersionVector
    /// The commits that gave the cell a text and that nobody who made it NULL has seen, sorted; none: it is NULL.
    ///
    /// So a text wins over a NULL written concurrently, as an added set element over its removal.
    package var present: [Dot]
    /// Changes that are new to whoever gets this, parents first.
    package var changes: [Change]
    package var past: Past
    /// The current text, as UTF-8; `nil` where it stands in the user's table, and on the wire.
    package var text: [UInt8]?
    /// What is known of texts that were found; `nil` if none was.
    package var adopted: AdoptedTexts?
    /// The document that `past` and `text` speak of, the one that is shown.
    package var document: Int64 = 0

    package init(
        touched: VersionVector = VersionVector(), present: [Dot] = [], changes: [Change] = [], past: Past = .none,
        text: [UInt8]? = nil
    ) {
        self.touched = touched
        self.present = present
        self.changes = changes
        self.past = past
        self.text = text
    }

    /// The cell that one commit wrote whole and nobody has changed since: `nil` is NULL.
    package init(text: [UInt8]?, stamp: Stamp) {
        self.init(
            touched: VersionVector([stamp.dot]), present: text == nil ? [] : [stamp.dot],
            past: text?.isEmpty == false ? .one(stamp) : .none, text: text ?? [])
    }

    /// What a reader sees, where the text is at hand. Whoever makes a cell NULL deletes the text he sees, so a text that is
    /// not empty is always shown; and so is an empty one that was found, until somebody writes the cell.
    package var shown: ColumnValue {
        let isFound = document != 0 && touched.isEmpty
        return present.isEmpty && text?.isEmpty != false && !isFound ? .null : .text(text ?? [])
    }

    /// Whether a replica that knows `vector` knows all that the cell's authors have changed, and all that they have found.
    package func isCovered(by vector: VersionVector) -> Bool {
        vector.covers(touched) && adopted.map { vector.covers($0.adopters) } ?? true
    }

    /// What a replica that knows `vector` lacks; `nil` if nothing.
    func uncovered(by vector: VersionVector) -> TextState? {
        if isCovered(by: vector) { return nil }
        var part = self
        part.changes.removeAll { change in
            (adopted?[change.document]?.known(to: vector) ?? vector).covers(change.stamp.dot)
        }
        return part
    }

    /// Whether this is the text of a row that its holder had collected and has written anew since: it knows of all changes of `old`, and of
    /// all that was found there, and not all of these changes, or nothing of what was found, is there any more.
    package func hasForgotten(_ old: TextState, knowing vector: VersionVector) -> Bool {
        guard old.isCovered(by: vector) else { return false }
        return !touched.covers(old.touched) || lacksAllFound(in: old)
    }

    /// Whether something was found in `old`, and is not here.
    package func lacksAllFound(in old: TextState) -> Bool {
        guard let found = old.adopted?.adopters, !found.isEmpty else { return false }
        return found.entries.allSatisfy { adopted?.adopters.covers($0) != true }
    }

    /// The authors of `old` who have touched this text since, and had collected `old` before: their later commits cover their earlier ones.
    ///
    /// An author who had known `old` would have built on it, directly or through changes of others. An author without a change of its own
    /// counts only if `old` is not empty, or the whole row is new. An author who makes a text NULL deletes it first; an author who writes a
    /// row anew without having collected it begins with a restart of the text. So one of the changes would build on `old`.
    ///
    /// - Parameters:
    ///   - isNewRow: whether nothing came of the row that its deletions have seen.
    ///   - ahead: changes of the cell that wait at the receiver, parents first.
    package func authorsBeginningAnew(after old: TextState, isNewRow: Bool, ahead: [Change]) -> Set<ReplicaID> {
        let added = ahead.filter { touched.covers($0.stamp.dot) } + changes
        // Those that build on nothing but each other.
        var closed: Set<Dot> = []
        var first: [ReplicaID: Dot] = [:]
        for change in added {
            let dot = change.stamp.dot
            if closed.isSuperset(of: change.parents) { closed.insert(dot) }
            first[dot.replica] = min(first[dot.replica] ?? dot, dot)
        }
        let areAllClosed = (isNewRow || old.text?.isEmpty == false) && added.allSatisfy { closed.contains($0.stamp.dot) }
        return Set(
            old.touched.entries.lazy.map(\.replica).filter { replica in
                guard touched[replica] > old.touched[replica] else { return false }
                return first[replica].map(closed.contains) ?? areAllClosed
            })
    }

    /// Whether an author of `old`, which is empty, has written a change here that builds on nothing. An honest author does so only after it
    /// has collected `old`.
    package func beginsAnew(after old: TextState) -> Bool {
        guard adopted == nil, old.adopted == nil, old.past != .none, old.text?.isEmpty == true else { return false }
        return changes.contains { change in
            let dot = change.stamp.dot
            return change.parents.isEmpty && old.touched[dot.replica] > 0 && old.touched[dot.replica] < dot.sequence
        }
    }

    /// The cell without its changes, for a merge with one whose holder knows `vector` and had collected them. Of the commits that gave it a
    /// text the merge tells which stay.
    package func leaving(_ vector: VersionVector) -> TextState {
        let unknown = touched.entries.filter { $0.sequence > vector[$0.replica] }
        return TextState(
            touched: VersionVector(unknown.map { Dot(replica: $0.replica, sequence: $0.sequence) }), present: present, text: [])
    }

    /// Adds what is new. The text is for whoever can read changes to bring up to date.
    mutating func merge(_ other: TextState, knowing mine: VersionVector, theirs: VersionVector) {
        var leavesOut = false
        if adopted != nil || other.adopted != nil {
            var texts = adopted ?? AdoptedTexts(written: self)
            leavesOut = texts.merge(other.adopted ?? AdoptedTexts(written: other))
            adopted = texts
        }
        touched.join(other.touched)
        present = keep(present, knowing: mine, other.present, knowing: theirs, dot: { $0 }).filter(touched.covers)
        let known = Set(changes.map(\.name))
        changes += other.changes.filter { !known.contains($0.name) }
        if leavesOut { changes.removeAll { $0.document != 0 && adopted?[$0.document] == nil } }
    }
}
