/// The names under which the page is served. A request under another name is another site's, whose name somebody has pointed to this
/// machine (DNS rebinding).
struct PageNames: Sendable {
    /// Host and port, as browsers send them.
    let hosts: Set<String>
    let isSecure: Bool
    /// The name of the cookie: browsers share cookies between the ports of a host.
    let cookie: String

    init(_ names: [String], port: Int, isSecure: Bool) {
        // Browsers leave out the port that the scheme stands for.
        let isStandard = port == (isSecure ? 443 : 80)
        hosts = Set(names.flatMap { name in ["\(name):\(port)"] + (isStandard ? [name] : []) }.map { $0.lowercased() })
        self.isSecure = isSecure
        cookie = "kith-\(port)"
    }

    /// Those of the machine itself.
    static let loopback = ["127.0.0.1", "localhost", "[::1]"]

    func areRight(host: String?) -> Bool {
        host.map { hosts.contains($0.lowercased()) } ?? false
    }

    func isOwn(origin: String?) -> Bool {
        let scheme = isSecure ? "https://" : "http://"
        return origin.map { $0.hasPrefix(scheme) && hosts.contains($0.dropFirst(scheme.count).lowercased()) } ?? false
    }
}
