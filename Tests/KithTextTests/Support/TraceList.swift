import Testing

/// The traces among the fixtures, with the SHA-256 of their final text as UTF-8.
enum TraceList {
    struct Trace: Sendable, CustomTestStringConvertible {
        let name: String
        let sha256: String

        var testDescription: String { name }
    }

    static let sequential = [
        Trace(name: "friendsforever_flat", sha256: "4720ec330c91e288c00b71cab318f7a1cdde689dfc401f269c353acfd6cb03f6"),
        Trace(name: "clownschool_flat", sha256: "d0812d3d6bfd59eab997e16187c9f1f575c65c84b4b539b033ab499c2edc79d5"),
        Trace(name: "sveltecomponent", sha256: "d8bb93b7cf87b4c3a0394fddc028284a093d90d5794a213d1ccb0794eb4ede8f"),
        Trace(name: "json-crdt-patch", sha256: "9540c169a3b43734e045b140e0ece3dec26e48e5b26795a4b600384f92cf2177"),
        Trace(name: "json-crdt-blog-post", sha256: "6ec88c8b06c91f84f614be16552dba3d7997e1197dde149010caa706a6853314"),
        Trace(name: "rustcode", sha256: "2cde7bd1dedbcd198e3f5a66a4135f120571a4349d48d057009f311622a0894c"),
        Trace(name: "seph-blog1", sha256: "fd42bef4fbb237f8cd748d2c1c628c51b489ea9b98992e6eb815d04a090a70ba"),
        Trace(name: "automerge-paper", sha256: "a489e9022976c14e46627aea174d07797edcb3fd17df42605956d4cf01bf9039"),
    ]

    static let concurrent = [
        Trace(name: "clownschool", sha256: "d0812d3d6bfd59eab997e16187c9f1f575c65c84b4b539b033ab499c2edc79d5"),
        Trace(name: "friendsforever", sha256: "4720ec330c91e288c00b71cab318f7a1cdde689dfc401f269c353acfd6cb03f6"),
    ]

    static let asynchronous = [
        Trace(name: "git-makefile-neutral", sha256: "dbcd5eafc62afb9f0904b81792fcd8bcb2553bb353dbebf324547e4e9f697613"),
        Trace(name: "node_nodecc-neutral", sha256: "54d9116f93696b0609e50b8efb02b4612818e164d631c5620ef930e1723be315"),
    ]
}
