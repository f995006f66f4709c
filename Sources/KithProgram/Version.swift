import CKithVersion

/// Which Kith this is.
package enum Version {
    /// As in the changelog; peers are told this one.
    package static let number = KITH_VERSION

    /// For people: the number, and the commit where it is not the released one, as in `0.1.0 (v0.1.0-7-g9f038a6)`.
    package static let described = described(by: String(cString: kith_version_described()))

    /// - Parameter description: what `git describe` says; empty where nobody asked it.
    package static func described(by description: String) -> String {
        description.isEmpty || description == "v" + number ? number : "\(number) (\(description))"
    }
}
