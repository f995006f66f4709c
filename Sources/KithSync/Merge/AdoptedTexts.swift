import KithCausality

extension ReplicaID {
    /// Who "wrote" the texts that were found: nobody. Their first change is named by what it says and not by a commit.
    package static let nobody = ReplicaID(high: .max, low: .max)
}

/// What is known of a text cell in which texts were found when the table was first tracked.
///
/// Each different text is a document of its own, with a history of its own: edits of one never reach into another. One is shown; the
/// others are kept as versions until somebody dismisses them.
package struct AdoptedTexts: Hashable, Sendable {
    /// One of the texts.
    package struct Document: Hashable, Sendable {
        /// Names the document by the text that it began with; 0 for the one that was not found but written.
        package var number: Int64
        /// The earliest commit that found it; `nil` if it was written.
        package var found: Stamp?
        /// Per replica its last commit that edited it.
        package var edited: VersionVector
        /// The latest of these.
        package var lastEdit: Stamp?
        /// Whether somebody has dismissed what was found.
        package var isFoundDismissed = false
        /// The edits that somebody has dismissed.
        package var dismissed = VersionVector()
        /// Where its changes are and what it says, unless it is the one that the cell shows; on the wire this is not said.
        package var past = TextState.Past.none
        package var text: [UInt8]?

        package init(number: Int64, found: Stamp? = nil, edited: VersionVector = VersionVector(), lastEdit: Stamp? = nil) {
            self.number = number
            self.found = found
            self.edited = edited
            self.lastEdit = lastEdit
        }

        /// The name of the change that began it, if it was found.
        package var root: Dot? { number == 0 ? nil : Dot(replica: .nobody, sequence: UInt64(number)) }

        /// Whether nobody needs to be told of this version.
        var isDismissed: Bool { (number == 0 || isFoundDismissed) && dismissed.covers(edited) }

        /// The edit or adoption by which it is listed.
        package var stamp: Stamp {
            lastEdit ?? found
                ?? Stamp(dot: edited.entries.first ?? Dot(replica: .nobody, sequence: 1), timestamp: .zero)
        }

        /// What a replica knows that has `vector`, with the name of the first change if it has that.
        package func known(to vector: VersionVector) -> VersionVector {
            guard let found, let root, vector.covers(found.dot) else { return vector }
            return vector.joined(with: VersionVector([root]))
        }

        /// Which of two is shown: the one with the later edit, else the one that was written, else the one that was found earlier.
        fileprivate func isShown(over other: Document) -> Bool {
            switch (lastEdit, other.lastEdit) {
            case (let mine?, let theirs?): return mine.isShown(over: theirs)
            case (nil, nil): break
            case (let mine, _): return mine != nil
            }
            guard let mine = found, let theirs = other.found else { return found == nil }
            return mine.isShown(over: theirs)
        }

        package mutating func dismiss() {
            isFoundDismissed = number != 0
            dismissed.join(edited)
        }

        /// Learns that `stamp` has edited it.
        package mutating func noteEdit(_ stamp: Stamp) {
            edited.insert(stamp.dot)
            if lastEdit.map({ stamp.isShown(over: $0) }) ?? true { lastEdit = stamp }
        }

        mutating func merge(_ other: Document) {
            if let theirs = other.found, found.map({ theirs.isShown(over: $0) }) ?? true { found = theirs }
            edited.join(other.edited)
            if let theirs = other.lastEdit, lastEdit.map({ theirs.isShown(over: $0) }) ?? true { lastEdit = theirs }
            isFoundDismissed = isFoundDismissed || other.isFoundDismissed
            dismissed.join(other.dismissed)
        }
    }

    /// Per replica its last commit that found something here, if only NULL.
    package var adopters: VersionVector
    /// Sorted by number.
    package var documents: [Document]

    package init(adopters: VersionVector = VersionVector(), documents: [Document] = []) {
        self.adopters = adopters
        self.documents = documents
    }

    /// What there is to say of a cell in which nothing was found.
    ///
    /// - Parameter lastEdit: the latest change of its text; by default the latest of those that the state carries.
    package init(written state: TextState, lastEdit: Stamp? = nil) {
        self.init()
        if state.touched.isEmpty { return }
        var document = Document(number: 0, edited: state.touched, lastEdit: lastEdit)
        for change in state.changes where document.lastEdit.map({ change.stamp.isShown(over: $0) }) ?? true {
            document.lastEdit = change.stamp
        }
        documents = [document]
    }

    /// Those of which everybody must know: who collected a row has none of what its next life dismissed.
    package var live: [Document] {
        let shown = shown
        let live = documents.filter { $0.number == shown || !$0.isDismissed }
        return live.contains { $0.number != 0 } ? live : []
    }

    /// The document that is shown: the one with the latest edit, else one that was written, else the one that was found earliest.
    var shown: Int64? {
        guard var best = documents.first else { return nil }
        for document in documents.dropFirst() where document.isShown(over: best) { best = document }
        return best.number
    }

    package subscript(number: Int64) -> Document? {
        get { documents.first { $0.number == number } }
        set {
            documents.removeAll { $0.number == number }
            guard let newValue else { return }
            documents.insert(newValue, at: documents.firstIndex { $0.number > number } ?? documents.endIndex)
        }
    }

    /// Of more documents than a cell may have, those stay that would be shown first. Returns whether any was left out.
    mutating func merge(_ other: AdoptedTexts) -> Bool {
        adopters.join(other.adopters)
        for document in other.documents {
            var mine = self[document.number] ?? Document(number: document.number)
            mine.merge(document)
            self[document.number] = mine
        }
        guard documents.count > WireLimits.textDocumentsMax else { return false }
        let shownFirst = documents.sorted { $0.isShown(over: $1) || (!$1.isShown(over: $0) && $0.number < $1.number) }
        documents = shownFirst.prefix(WireLimits.textDocumentsMax).sorted { $0.number < $1.number }
        return true
    }
}

extension TextState.Change {
    /// Whether it is the first change of a document that was found.
    package var isRoot: Bool {
        document != 0 && stamp.dot == Dot(replica: .nobody, sequence: UInt64(document)) && parents.isEmpty && replacedScalars == nil
    }
}

extension TextState {
    /// One document of the cell as a cell of its own, with its changes.
    ///
    /// - Parameter own: its changes, if they were found already.
    package func part(_ number: Int64, _ own: [Change]? = nil) -> TextState {
        var part = TextState(touched: touched, present: present, changes: own ?? changes.filter { $0.document == number })
        part.document = number
        let isShown = number == document
        part.past = isShown ? past : adopted?[number]?.past ?? .none
        part.text = isShown ? text : adopted?[number]?.text
        return part
    }

    /// Puts back where the changes of a document are now, and what it says.
    package mutating func put(_ part: TextState) {
        if part.document == document {
            past = part.past
            text = part.text
        } else {
            adopted?[part.document]?.past = part.past
            adopted?[part.document]?.text = part.text
        }
    }

    /// Forgets where changes are and what the documents say, all but the one that is shown: as it is on the wire.
    package mutating func forgetPasts() {
        for index in adopted?.documents.indices ?? 0..<0 {
            adopted?.documents[index].past = .none
            adopted?.documents[index].text = nil
        }
        document = 0
    }

    /// Makes the cell show what its documents say that it shows.
    package mutating func showLatest() {
        if let shown = adopted?.shown { show(shown) }
    }

    /// Makes the cell show one of its documents.
    package mutating func show(_ number: Int64) {
        if number == document { return }
        let new = part(number)
        adopted?[document]?.past = past
        adopted?[document]?.text = text
        document = number
        adopted?[number]?.past = .none
        adopted?[number]?.text = nil
        past = new.past
        text = new.text ?? []
    }

    /// Notes that a commit has edited the document that is shown, which said `old`: those that said the same go with it.
    package mutating func noteEdit(_ stamp: Stamp, replacing old: [UInt8]?) {
        guard var texts = adopted else { return }
        for number in texts.documents.map(\.number) where number != document && old != nil && texts[number]?.text ?? [] == old {
            texts[number]?.dismiss()
        }
        var shown = texts[document] ?? AdoptedTexts.Document(number: document)
        shown.noteEdit(stamp)
        texts[document] = shown
        adopted = texts
    }

    /// Notes that somebody has dismissed every version that is known here.
    package mutating func dismissVersions() {
        for number in adopted?.documents.map(\.number) ?? [] { adopted?[number]?.dismiss() }
    }

    /// The versions that are not shown, each text once.
    package var versions: [Write] {
        guard let adopted else { return [] }
        var best: [[UInt8]: Stamp] = [:]
        for other in adopted.documents where other.number != document && !other.isDismissed && other.text ?? [] != text ?? [] {
            let text = other.text ?? []
            if let known = best[text], known.isShown(over: other.stamp) { continue }
            best[text] = other.stamp
        }
        return best.map { Write(stamp: $0.value, value: .text($0.key)) }.sorted { $0.stamp.dot < $1.stamp.dot }
    }

    /// The commits that live here.
    package var dots: [Dot] {
        guard let adopted, !adopted.adopters.isEmpty else { return touched.entries }
        return touched.joined(with: adopted.adopters).entries
    }
}
