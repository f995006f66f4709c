// swift-tools-version: 6.1
import Foundation
import PackageDescription

let environment = ProcessInfo.processInfo.environment
let warningsAreErrors = environment["KITH_WERROR"] == "1"
let isOptimized = environment["KITH_OPTIMIZE"] == "1"

/// The test targets to build, by name and with spaces between them, and what they need: all without it.
let testsAsked = environment["KITH_TESTS"].map { $0.split(separator: " ").map(String.init) }

/// In the build for ThreadSanitizer, locks that it sees stand in place of those of `Synchronization` (scripts/sanitize.sh).
let hasVisibleLocks = environment["KITH_SANITIZE"] == "thread"

/// What `git describe` says, for `kith --version`: given where a program is built to be installed (scripts/version.sh).
let described = environment["KITH_DESCRIBED"].flatMap { $0.isEmpty ? nil : $0 }

/// The files of the system's libraries whose names change with each of their versions are put into programs to install (scripts/release.sh).
let isRelease = environment["KITH_RELEASE"] == "1"
let cmark = ["cmark-gfm-extensions", "cmark-gfm"].map { isRelease ? ":lib\($0).a" : $0 }

/// The same strict settings for every target.
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (warningsAreErrors ? [.unsafeFlags(["-warnings-as-errors"])] : [])
/// Of the modules that most of the tests' time is spent in: `make test` has them optimised in its debug build. Not of those that take longer
/// to optimise than the tests save by it, as KithTesting and KithStore.
let computing = settings + (isOptimized ? [.unsafeFlags(["-O"])] : [])

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let argumentParser: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Programs"]))
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let certificates: [Target.Dependency] = [
    .product(name: "X509", package: "swift-certificates"),
    .product(name: "SwiftASN1", package: "swift-asn1"),
]
let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "NIOTLS", package: "swift-nio"),
    .product(name: "NIOSSL", package: "swift-nio-ssl"),
]

/// A module of the library or a product, with the settings that all share.
func module(_ name: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = settings) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// The tests of a module, with its folder `Fixtures` if it has one.
func tests(_ name: String, _ dependencies: [Target.Dependency] = [], fixtures: Bool = false) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], resources: fixtures ? [.copy("Fixtures")] : [], swiftSettings: settings)
}

/// A program that stands in Examples/Package.swift, too.
func example(_ name: String, _ path: String, _ dependencies: [Target.Dependency] = ["Kith", grdb]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Examples/\(path)", packageAccess: false, swiftSettings: settings)
}

let package = Package(
    name: "kith",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Kith", targets: ["Kith"]),
        .library(name: "KithStore", targets: ["KithStore"]),
        .library(name: "KithSnapshot", targets: ["KithSnapshot"]),
        .library(name: "KithText", targets: ["KithText"]),
        .library(name: "KithTesting", targets: ["KithTesting"]),
        .library(name: "KithNotes", targets: ["KithNotes"]),
        .executable(name: "kith", targets: ["KithCLI"]),
        .executable(name: "kith-lab", targets: ["kith-lab"]),
    ],
    traits: [
        .default(enabledTraits: ["Programs"]),
        .trait(name: "Programs", description: "The command line, its page and the lab. An app that needs none of them says `traits: []`."),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    ],
    targets: [
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),

        // The functional core: no I/O.
        module("KithCausality", [], computing),
        module("KithText", ["KithCausality"], computing),
        module("KithSync", ["KithCausality", "KithText", "CZlib", crypto], computing),

        // Thin shells around files, SQLite, keys, TLS and mDNS.
        module("KithLock"),
        // What a widget reads: Foundation alone.
        module("KithSnapshot"),
        .target(name: "CSQLiteConfig"),
        module("KithSQLite", ["KithCausality", "KithSync", "KithLock", "CSQLiteConfig", grdb, sqlite], computing),
        module("KithLedger", ["KithCausality", "KithText", "KithSync", "KithSQLite", crypto, grdb, sqlite], computing),
        module("KithTexts", ["KithCausality", "KithText", "KithSync", "KithSQLite", "KithLedger", "CZlib", crypto], computing),
        module("KithCapture", ["KithCausality", "KithText", "KithSync", "KithSQLite", "KithLedger", "KithTexts", sqlite], computing),
        module("KithMerge", ["KithCausality", "KithText", "KithSync", "KithSQLite", "KithLedger", "KithTexts", sqlite], computing),
        module(
            "KithStore",
            [
                "KithCausality", "KithText", "KithSync", "KithLock", "KithSQLite", "KithLedger", "KithTexts", "KithCapture", "KithMerge",
                "KithSnapshot", crypto, grdb, sqlite,
            ]),
        module("KithTrust", ["KithCausality", "KithLock", crypto, cryptoExtras] + certificates, computing),
        module("KithTransport", ["KithSync", "KithTrust", logging] + nio),
        .systemLibrary(name: "CDNSSD", providers: [.apt(["libavahi-compat-libdnssd-dev"])]),
        module("KithDiscovery", ["CDNSSD", logging]),

        // Where the parts meet, and what is made of them.
        module(
            "Kith",
            [
                "KithCausality", "KithText", "KithSync", "KithLock", "KithLedger", "KithStore", "KithTrust", "KithTransport",
                "KithDiscovery", grdb,
                logging, metrics, tracing,
            ]),
        module("KithNotes", ["KithCausality", "KithSync", "KithLock", "Kith", crypto, grdb]),
        .systemLibrary(name: "CXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .target(
            name: "CFileFormats", dependencies: ["CXML2"],
            linkerSettings: (["xml2", "archive", "z"] + cmark).map { .linkedLibrary($0) }),
        module(
            "KithFiles",
            [
                "Kith", "KithLock", "KithNotes", "KithTrust", "CFileFormats", crypto, cryptoExtras, grdb,
                .product(name: "Yams", package: "Yams", condition: .when(traits: ["Programs"])),
            ],
            computing),

        .target(
            name: "KithWeb",
            dependencies: [
                "Kith", "KithSync", "KithLock", "KithNotes", "KithFiles", "KithProgram", "KithReport", "KithTrust", crypto, logging,
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Programs"])),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Programs"])),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: ["Programs"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Programs"])),
                .product(name: "Mustache", package: "swift-mustache", condition: .when(traits: ["Programs"])),
            ] + nio,
            resources: [.embedInCode("Resources")], swiftSettings: settings),

        // The programs.
        .target(
            name: "CKithVersion", cSettings: described.map { [.define("KITH_DESCRIBED", to: "\"\($0)\"")] } ?? []),
        module("KithProgram", ["CKithVersion"]),
        module("KithReport", ["Kith", "KithNotes", "KithFiles", "KithProgram"]),
        .target(name: "CFaultVFS", linkerSettings: [.linkedLibrary("sqlite3")]),
        module(
            "KithTesting", ["KithCausality", "KithText", "KithSync", "KithLock", "KithStore", "KithTrust", "CFaultVFS", grdb, sqlite]),
        .target(
            name: "KithLab",
            dependencies: [
                "KithCausality", "KithSync", "KithStore", "KithNotes", "KithTesting", grdb, sqlite,
                .product(name: "Yams", package: "Yams", condition: .when(traits: ["Programs"])),
            ],
            resources: [.embedInCode("Resources")], swiftSettings: settings),
        .executableTarget(
            name: "KithCLI",
            dependencies: [
                "Kith", "KithNotes", "KithFiles", "KithWeb", "KithProgram", "KithReport", grdb, logging, argumentParser,
            ], resources: [.embedInCode("Resources")], swiftSettings: settings),
        .executableTarget(
            name: "kith-lab", dependencies: ["KithLab", "KithNotes", "KithProgram", argumentParser], swiftSettings: settings),
        .executableTarget(
            name: "kith-conformance",
            dependencies: ["KithCausality", "KithText", "KithSync", "KithStore", grdb], swiftSettings: settings),
        .executableTarget(
            name: "kith-sim", dependencies: ["KithLab"], swiftSettings: settings),
        .executableTarget(
            name: "kith-counts", dependencies: ["KithCausality", "KithText", "KithSync", "KithStore", grdb], path: "Tests/Kernels",
            exclude: ["counts.txt"], swiftSettings: computing),
        .executableTarget(
            name: "kith-bench", dependencies: ["KithCausality", "KithText", "KithSync", "KithStore", "Kith", "KithNotes", grdb],
            path: "Benchmarks", exclude: ["files.py", "peers"], swiftSettings: settings),

        // What Examples/Package.swift offers to copy, compiled here with the same settings. Like an app, it sees what is public.
        example("SmallestSyncedAppExample", "SmallestSyncedApp"),
        example("LiveQueriesExample", "LiveQueries"),
        example("LiveListExample", "LiveList"),
        example("JournalAndUndoExample", "JournalAndUndo"),
        example("WidgetSnapshotExample", "WidgetSnapshot/App"),
        example("WidgetExample", "WidgetSnapshot/Widget", ["KithSnapshot"]),
        example("SeveralProcessesExample", "SeveralProcesses"),
        example("AdoptedPantryProgram", "AdoptedPantry/App"),
        .testTarget(
            name: "AdoptedPantryExample", dependencies: ["AdoptedPantryProgram", "Kith", grdb], path: "Examples/AdoptedPantry/Tests",
            packageAccess: false, swiftSettings: settings),
        .testTarget(
            name: "SimulatedAppExample", dependencies: ["KithTesting", grdb], path: "Examples/SimulatedApp", packageAccess: false,
            swiftSettings: settings),

        // What the tests of several modules share.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: computing),
        // The code of the README and of docs/.
        .target(
            name: "DocumentedCode", dependencies: ["Kith", "KithText", "KithTesting", grdb], path: "Tests/DocumentedCode",
            packageAccess: false, swiftSettings: settings),
        tests("ProjectTests", ["DocumentedCode"]),
        tests("KithCausalityTests", ["KithCausality"]),
        tests("KithSyncTests", ["KithCausality", "KithSync"], fixtures: true),
        tests(
            "KithStoreTests",
            [
                "KithCausality", "KithText", "KithSync", "KithLock", "KithSQLite", "KithLedger", "KithTexts", "KithCapture", "KithMerge",
                "KithStore", "kith-conformance", grdb, sqlite,
            ], fixtures: true),
        tests("KithSnapshotTests", ["KithSnapshot"], fixtures: true),
        tests("KithTextTests", ["KithCausality", "KithText", crypto], fixtures: true),
        tests("KithTrustTests", ["KithTrust", crypto] + certificates, fixtures: true),
        tests("KithTransportTests", ["KithSync", "KithTransport", "KithTrust", crypto] + certificates + nio),
        tests("KithDiscoveryTests", ["KithDiscovery", logging]),
        tests(
            "KithTests",
            [
                "Kith", "KithDiscovery", "KithTransport", "KithCausality", "KithSQLite", "KithLedger", "CFaultVFS",
                "SmallestSyncedAppExample", "LiveQueriesExample", "SeveralProcessesExample", "LiveListExample", "JournalAndUndoExample",
                "WidgetSnapshotExample", "WidgetExample", "AdoptedPantryProgram", "KithTesting", grdb, logging, metrics, tracing,
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ]),
        tests(
            "KithTestingTests", ["KithCausality", "KithSync", "KithStore", "KithTesting", "KithTrust", "kith-sim", grdb], fixtures: true),
        tests("KithLabTests", ["KithLab", "KithCausality", "KithTesting", "KithCLI", "kith-lab"], fixtures: true),
        tests("KithNotesTests", ["KithNotes", "KithStore", "KithSync", grdb]),
        tests("KithFilesTests", ["KithCausality", "KithFiles", "KithNotes", "KithStore", "KithSync", grdb], fixtures: true),
        tests("KithWebTests", ["KithWeb", "KithFiles", "KithNotes", "KithStore", grdb]),
        tests(
            "KithCLITests",
            [
                "Kith", "KithCausality", "KithCLI", "KithNotes", "KithProgram", "KithReport", "KithStore", "KithSync", "KithTrust",
                "kith-lab", argumentParser, grdb,
            ]),
    ]
)
if let testsAsked {
    var needed: Set<String> = []
    var open = testsAsked
    while let name = open.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
        for dependency in target.dependencies {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): open.append(name)
            default: break
            }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll()
}
// SwiftPM begins what is ready in the order of names, the last first. Begun as soon as they are ready, these two test targets would delay the
// store's modules, on which most depends.
if isOptimized, testsAsked == nil {
    for (name, module) in [("KithTrustTests", "KithLedger"), ("KithSyncTests", "KithTexts")] {
        package.targets.first { $0.name == name }?.dependencies.append(.byName(name: module))
    }
}
if hasVisibleLocks {
    for target in package.targets where target.swiftSettings != nil {
        target.dependencies.append("SanitizerLocks")
        target.swiftSettings?.append(.unsafeFlags(["-module-alias", "Synchronization=SanitizerLocks"]))
    }
    package.targets.append(.target(name: "SanitizerLocks", path: "Tests/SanitizerLocks", swiftSettings: settings))
}
