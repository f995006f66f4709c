// swift-tools-version: 6.1
import PackageDescription

// A package of its own, to copy from: in your package, name the repository's URL instead of the path.

let kith = Target.Dependency.product(name: "Kith", package: "kith")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

func app(_ name: String, _ path: String) -> Target { .executableTarget(name: name, dependencies: [kith, grdb], path: path) }

let package = Package(
    name: "kith-examples",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [
        // Without its programs, and what only these need.
        .package(name: "kith", path: "..", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        app("smallest-synced-app", "SmallestSyncedApp"),
        app("live-queries", "LiveQueries"),
        app("live-list", "LiveList"),
        app("journal-and-undo", "JournalAndUndo"),
        app("widget-snapshot", "WidgetSnapshot/App"),
        .executableTarget(
            name: "widget", dependencies: [.product(name: "KithSnapshot", package: "kith")], path: "WidgetSnapshot/Widget"),
        app("several-processes", "SeveralProcesses"),
        app("AdoptedPantryProgram", "AdoptedPantry/App"),
        .testTarget(name: "AdoptedPantryTests", dependencies: ["AdoptedPantryProgram", kith, grdb], path: "AdoptedPantry/Tests"),
        .testTarget(
            name: "SimulatedAppTests", dependencies: [.product(name: "KithTesting", package: "kith"), grdb], path: "SimulatedApp"),
    ]
)
