// swift-tools-version: 6.1
import PackageDescription

// A package of its own, to copy from: in your package, name the repository's URL instead of the path.
let package = Package(
    name: "kith-examples",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [
        // Without its programs, and what only these need.
        .package(name: "kith", path: "..", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "smallest-synced-app",
            dependencies: [.product(name: "Kith", package: "kith"), .product(name: "GRDB", package: "GRDB.swift")],
            path: "SmallestSyncedApp"),
        .executableTarget(
            name: "live-queries",
            dependencies: [.product(name: "Kith", package: "kith"), .product(name: "GRDB", package: "GRDB.swift")],
            path: "LiveQueries"),
        .executableTarget(
            name: "live-list",
            dependencies: [.product(name: "Kith", package: "kith"), .product(name: "GRDB", package: "GRDB.swift")],
            path: "LiveList"),
        .executableTarget(
            name: "journal-and-undo",
            dependencies: [.product(name: "Kith", package: "kith"), .product(name: "GRDB", package: "GRDB.swift")],
            path: "JournalAndUndo"),
        .executableTarget(
            name: "widget-snapshot",
            dependencies: [.product(name: "Kith", package: "kith"), .product(name: "GRDB", package: "GRDB.swift")],
            path: "WidgetSnapshot/App"),
        .executableTarget(
            name: "widget", dependencies: [.product(name: "KithSnapshot", package: "kith")], path: "WidgetSnapshot/Widget"),
        .executableTarget(
            name: "several-processes",
            dependencies: [.product(name: "Kith", package: "kith"), .product(name: "GRDB", package: "GRDB.swift")],
            path: "SeveralProcesses"),
        .executableTarget(
            name: "AdoptedPantryProgram",
            dependencies: [.product(name: "Kith", package: "kith"), .product(name: "GRDB", package: "GRDB.swift")],
            path: "AdoptedPantry/App"),
        .testTarget(
            name: "AdoptedPantryTests",
            dependencies: ["AdoptedPantryProgram", .product(name: "Kith", package: "kith"), .product(name: "GRDB", package: "GRDB.swift")],
            path: "AdoptedPantry/Tests"),
        .testTarget(
            name: "SimulatedAppTests",
            dependencies: [.product(name: "KithTesting", package: "kith"), .product(name: "GRDB", package: "GRDB.swift")],
            path: "SimulatedApp"),
    ]
)
