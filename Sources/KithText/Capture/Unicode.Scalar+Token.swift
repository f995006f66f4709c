extension Unicode.Scalar {
    /// What a scalar may form a token with.
    enum TokenClass {
        case word
        case space
        /// A token of its own: punctuation, symbols, ideographs, letters of scripts that write without spaces.
        case single
    }

    var tokenClass: TokenClass {
        if isASCII {
            switch value {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: return .word
            case 0x20, 0x09...0x0D: return .space
            default: return .single
            }
        }
        switch value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF: return .single  // no spaces there
        default: break
        }
        if properties.isIdeographic { return .single }
        if properties.isWhitespace { return .space }
        return properties.isAlphabetic || properties.numericType != nil ? .word : .single
    }

    /// Whether the scalar changes how the one before it looks, so that a cut in front of it would tear a character.
    var extendsPrevious: Bool {
        guard value >= 0x300 else { return false }
        switch value {
        case 0x200D, 0x1F3FB...0x1F3FF, 0xE0020...0xE007F: return true  // joiner, skin tones, tags
        case 0x1160...0x11FF, 0xD7B0...0xD7FB: return true  // vowels and finals of Hangul in parts
        default: break
        }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return true
        default: return false
        }
    }

    var isRegionalIndicator: Bool { (0x1F1E6...0x1F1FF).contains(value) }
}

extension ContiguousArray<Unicode.Scalar> {
    /// Whether an edit may begin or end in front of the scalar number `position` without tearing a character apart:
    /// a base and its marks, a joined emoji, a flag, CR and LF.
    ///
    /// This steers which edits a save becomes; it never takes part in a merge, so it may know another version of
    /// Unicode on another device.
    func isTokenBoundary(_ position: Int) -> Bool {
        guard position > 0, position < count else { return true }
        let left = self[position - 1]
        let right = self[position]
        if left.isASCII, right.isASCII { return left != "\r" || right != "\n" }
        if right.extendsPrevious || left.value == 0x200D { return false }
        guard right.isRegionalIndicator else { return true }
        // Flags are pairs from the beginning of their row on; a longer row is not worth the walk.
        var first = position
        while first > 0, position - first < 256, self[first - 1].isRegionalIndicator { first -= 1 }
        return (position - first).isMultiple(of: 2)
    }

    /// Whether no word goes on from the scalar before `position` to the one at it.
    func isWordBoundary(_ position: Int) -> Bool {
        guard isTokenBoundary(position) else { return false }
        guard position > 0, position < count else { return true }
        return self[position - 1].tokenClass != .word || self[position].tokenClass != .word
    }
}
