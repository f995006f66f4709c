/// A stretch of the old text and what stands there in the new one.
struct Edit: Equatable {
    var old: Range<Int>
    var new: Range<Int>

    var size: Int { max(old.count, new.count) }
    var isEmpty: Bool { old.isEmpty && new.isEmpty }

    /// Both with what lies between them.
    func joined(with later: Edit) -> Edit {
        Edit(old: old.lowerBound..<later.old.upperBound, new: new.lowerBound..<later.new.upperBound)
    }
}
