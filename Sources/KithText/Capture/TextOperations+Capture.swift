extension TextOperations {
    /// The edits that turn `base` into `new`: what a save means to someone who has only the two texts.
    ///
    /// Compares scalars, so a change of normalisation alone is an edit. The result is a function of the two texts: no
    /// clock, no randomness; work is bounded. Empty for equal texts. Applied to `base` it gives `new`, always: that is
    /// checked, and otherwise, or for more edits than ``TextLimits/operationsMax``, the whole text is replaced.
    ///
    /// `base` must be the text that the editor loaded, never a newer one: else what others wrote meanwhile would be
    /// taken for deleted.
    public init(from base: TextBuffer, to new: TextBuffer) {
        self.init(from: base, to: new, joining: true)
    }

    /// - Parameter joining: whether two edits with little in common between them become one, which a reader understands better;
    ///   otherwise what both texts have in common is never written anew.
    package init(from base: TextBuffer, to new: TextBuffer, joining: Bool) {
        self.init()
        let (old, target) = (base.scalars, new.scalars)
        guard old != target else { return }
        var comparison = TextComparison(old: old, new: target, joins: joining)
        self.init(comparison.edits(), target)
        if count <= TextLimits.operationsMax {
            var check = base
            do throws(TextError) {
                try check.apply(self)
                if check == new { return }
            } catch {}
        }
        self.init([Edit(old: old.indices, new: target.indices)], target)
    }

    /// Each edit as a deletion and an insertion, from left to right.
    private init(_ edits: [Edit], _ target: ContiguousArray<Unicode.Scalar>) {
        self.init()
        for edit in edits {
            delete(edit.old.count, at: edit.new.lowerBound)
            insert(scalars: target[edit.new], at: edit.new.lowerBound)
        }
    }
}
