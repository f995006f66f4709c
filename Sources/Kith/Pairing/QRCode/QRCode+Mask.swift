/// Masks, and what they are chosen by (ISO/IEC 18004, 7.8 and 7.9).
extension QRCode {
    /// This code with a mask, 0 to 7, which the format information names.
    func masked(_ mask: Int) -> QRCode {
        var code = self
        for row in 0..<size {
            for column in 0..<size where !isFixed[row * size + column] && Self.isInverted(row, column, by: mask) {
                code.toggle(row, column)
            }
        }
        code.drawFormat(mask: mask)
        return code
    }

    private static func isInverted(_ row: Int, _ column: Int, by mask: Int) -> Bool {
        switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        default: ((row + column) % 2 + row * column % 3) % 2 == 0
        }
    }

    /// Level and mask, protected by a BCH code, twice (7.9.1); and the module that is always dark.
    mutating func drawFormat(mask: Int) {
        // Level M is 00.
        var rest = mask << 10
        for bit in stride(from: 14, through: 10, by: -1) where rest >> bit & 1 == 1 { rest ^= 0b101_0011_0111 << (bit - 10) }
        let format = (mask << 10 | rest) ^ 0b101_0100_0001_0010
        for bit in 0..<15 {
            let isDark = format >> bit & 1 == 1
            // From the corner down and to the left; the timing patterns are passed over.
            switch bit {
            case ..<6: fix(bit, 8, isDark)
            case ..<8: fix(bit + 1, 8, isDark)
            case 8: fix(8, 7, isDark)
            default: fix(8, 14 - bit, isDark)
            }
            if bit < 8 { fix(8, size - 1 - bit, isDark) } else { fix(size - 15 + bit, 8, isDark) }
        }
        fix(size - 8, 8, true)
    }

    /// How hard the code is to read (7.8.3.1).
    var penalty: Int {
        var points = 0
        for index in 0..<size {
            points += Self.penalty(ofLine: (0..<size).map { isDark(row: index, column: $0) })
            points += Self.penalty(ofLine: (0..<size).map { isDark(row: $0, column: index) })
        }
        for row in 0..<size - 1 {
            for column in 0..<size - 1 {
                let dark = [(0, 0), (0, 1), (1, 0), (1, 1)].count { isDark(row: row + $0.0, column: column + $0.1) }
                if dark == 0 || dark == 4 { points += 3 }
            }
        }
        let darkPercent = modules.count { $0 } * 100 / modules.count
        return points + abs(darkPercent - 50) / 5 * 10
    }

    /// Long runs of one color, and what looks like a finder pattern.
    private static func penalty(ofLine line: [Bool]) -> Int {
        var points = 0
        var run = 0
        for index in line.indices {
            run = index > 0 && line[index] == line[index - 1] ? run + 1 : 1
            if run == 5 { points += 3 } else if run > 5 { points += 1 }
        }
        let finder = [true, false, true, true, true, false, true]
        for start in 0...line.count - finder.count where line[start..<start + finder.count].elementsEqual(finder) {
            let isLight = { (range: Range<Int>) in range.allSatisfy { !line.indices.contains($0) || !line[$0] } }
            if isLight(start - 4..<start) || isLight(start + 7..<start + 11) { points += 40 }
        }
        return points
    }
}
