/// Which modules the files of each target may import: the arrows of the architecture, which only go down this table.
enum ModuleTable {
    /// What belongs to the operating system or to Swift itself; for the thin shells, not for the core.
    private static let system: Set<String> = [
        "CDispatch", "CoreFoundation", "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl", "Network",
        "Observation",
        "Synchronization",
    ]
    private static let nio: Set<String> = ["NIO", "NIOCore", "NIOPosix", "NIOSSL", "NIOTLS"]
    private static let grdb: Set<String> = ["GRDB", "GRDBSQLite"]
    private static let storeParts: Set<String> = ["KithSQLite", "KithLedger", "KithTexts", "KithCapture", "KithMerge"]
    private static let core: Set<String> = ["KithCausality", "KithText", "KithSync"]

    /// Allowed imports by the folder of the target below `Sources`. The first three are the core, which has the standard library only,
    /// zlib for a frame's bytes, and a hash: no I/O either.
    static let allowedImports: [String: Set<String>] = [
        "KithCausality": [],
        "KithText": ["KithCausality"],
        "KithSync": ["KithCausality", "KithText", "CZlib", "Crypto"],
        "CSQLiteConfig": [],
        "CZlib": [],
        "KithLock": system,
        "KithSnapshot": system,
        "KithSQLite": system.union(grdb).union(["KithCausality", "KithSync", "KithLock", "CSQLiteConfig"]),
        "KithLedger": system.union(core).union(grdb).union(["KithSQLite", "Crypto"]),
        "KithTexts": system.union(core).union(["KithSQLite", "KithLedger", "Crypto", "CZlib"]),
        "KithCapture": system.union(core).union(["GRDBSQLite", "KithSQLite", "KithLedger", "KithTexts"]),
        "KithMerge": system.union(core).union(["GRDBSQLite", "KithSQLite", "KithLedger", "KithTexts"]),
        "KithStore": system.union(core).union(grdb).union(storeParts).union(["KithLock", "KithSnapshot", "Crypto"]),
        "KithTrust": system.union(["KithCausality", "KithLock", "Crypto", "CryptoExtras", "X509", "SwiftASN1"]),
        "KithTransport": system.union(["KithSync", "KithTrust", "Logging"]).union(nio),
        "CDNSSD": [],
        "KithDiscovery": system.union(["CDNSSD", "Logging"]),
        "Kith": system.union(core).union(grdb).union([
            "KithLock", "KithLedger", "KithStore", "KithTrust", "KithTransport", "KithDiscovery", "Logging", "Metrics", "ServiceLifecycle",
            "Tracing",
        ]),
        "CFaultVFS": [],
        "KithTesting": system.union(core).union(grdb).union(["KithLock", "KithStore", "KithTrust", "CFaultVFS"]),
        "KithNotes": system.union(grdb).union(["KithCausality", "KithSync", "KithLock", "Kith", "Crypto"]),
        "CXML2": [],
        "CFileFormats": ["CXML2"],
        "KithFiles": system.union(grdb).union([
            "Kith", "KithLock", "KithNotes", "KithTrust", "CFileFormats", "Crypto", "CryptoExtras", "Yams",
        ]),
        "KithWeb": system.union(nio).union([
            "Kith", "KithSync", "KithLock", "KithNotes", "KithFiles", "KithProgram", "KithReport", "KithTrust", "Crypto", "HTTPTypes",
            "Hummingbird", "HummingbirdCore", "HummingbirdTLS", "Logging", "Mustache", "NIOHTTP1", "NIOHTTPTypes",
        ]),
        "KithLab": system.union(core).union(grdb).union(["KithStore", "KithNotes", "KithTesting", "Yams"]),
        "CKithVersion": [],
        "KithProgram": system.union(["CKithVersion"]),
        "KithReport": system.union(["Kith", "KithNotes", "KithFiles", "KithProgram"]),
        "KithCLI": system.union([
            "Kith", "KithNotes", "KithFiles", "KithWeb", "KithProgram", "KithReport", "ArgumentParser", "Logging",
        ]),
        "kith-lab": system.union(["KithLab", "KithNotes", "KithProgram", "ArgumentParser"]),
        "kith-sim": system.union(["KithLab"]),
        "kith-conformance": system.union(core).union(grdb).union(["KithStore"]),
    ]
}
