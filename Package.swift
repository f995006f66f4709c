// swift-tools-version: 6.1
import Foundation
import PackageDescription

let warningsAreErrors = ProcessInfo.processInfo.environment["KITH_WERROR"] == "1"

/// The same strict settings for every target.
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (warningsAreErrors ? [.unsafeFlags(["-warnings-as-errors"])] : [])

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")

let package = Package(
    name: "kith",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Kith", targets: ["Kith"]),
        .library(name: "KithNotes", targets: ["KithNotes"]),
        .executable(name: "kith", targets: ["KithCLI"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .target(name: "KithCausality", swiftSettings: settings),
        .target(name: "KithText", dependencies: ["KithCausality"], swiftSettings: settings),
        .target(name: "KithSync", dependencies: ["KithCausality", "KithText"], swiftSettings: settings),
        .target(
            name: "KithStore", dependencies: ["KithCausality", "KithText", "KithSync", grdb, sqlite],
            swiftSettings: settings),
        .target(
            name: "KithTrust",
            dependencies: [
                "KithCausality", crypto,
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            swiftSettings: settings),
        .target(
            name: "KithTransport",
            dependencies: [
                "KithSync", "KithTrust", logging,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings),
        .systemLibrary(
            name: "CDNSSD", providers: [.apt(["libavahi-compat-libdnssd-dev"])]),
        .target(name: "KithDiscovery", dependencies: ["CDNSSD", logging], swiftSettings: settings),
        .target(
            name: "Kith",
            dependencies: [
                "KithCausality", "KithText", "KithSync", "KithStore", "KithTrust", "KithTransport", "KithDiscovery", grdb,
                logging,
            ],
            swiftSettings: settings),
        .target(name: "KithNotes", dependencies: ["Kith", grdb], swiftSettings: settings),
        .target(
            name: "KithTesting", dependencies: ["KithCausality", "KithSync", "KithStore", "KithTrust", grdb],
            swiftSettings: settings),
        .executableTarget(
            name: "KithCLI",
            dependencies: ["Kith", "KithNotes", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            swiftSettings: settings),
    ]
)
