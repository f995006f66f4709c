// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "kith-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "kith", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "kith-bench",
            dependencies: [
                .product(name: "Kith", package: "kith"), .product(name: "KithStore", package: "kith"),
                .product(name: "KithText", package: "kith"), .product(name: "KithNotes", package: "kith"), .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]),
    ]
)
