/// The names that are taken in one folder, whichever system will read it.
struct NameRegister {
    private var taken: Set<String> = []
    /// The number that was tried last for a name that is taken.
    private var numbers: [String: Int] = [:]

    /// Takes the name if it is free.
    /// - Returns: whether it was.
    mutating func take(_ name: String) -> Bool {
        taken.insert(FileName.key(name)).inserted
    }

    /// Takes this name or, if it is taken, the first free one with a number: `Title (2).md`.
    mutating func takeFree(stem: String, ending: String?) -> String {
        let dotted = ending.map { "." + $0 } ?? ""
        if take(stem + dotted) { return stem + dotted }
        let key = FileName.key(stem + dotted)
        var number = numbers[key] ?? 1
        while true {
            number += 1
            let name = "\(stem) (\(number))\(dotted)"
            if take(name) {
                numbers[key] = number
                return name
            }
        }
    }

    /// The same for a name with its ending.
    mutating func takeFree(_ name: String) -> String {
        let (stem, ending) = FileName.parts(name)
        return takeFree(stem: stem, ending: ending)
    }
}
