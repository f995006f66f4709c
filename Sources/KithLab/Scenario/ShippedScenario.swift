/// A scenario that comes with the program.
package struct ShippedScenario: Sendable {
    /// How it is called on the command line.
    package let name: String
    package let text: String

    /// In the order in which they are best read.
    package static let all: [ShippedScenario] = [
        .init("week", PackageResources.week_yaml),
        .init("month", PackageResources.month_yaml),
        .init("offline", PackageResources.offline_yaml),
        .init("wifi", PackageResources.wifi_yaml),
        .init("slow", PackageResources.slow_yaml),
        .init("kill", PackageResources.kill_yaml),
        .init("disk", PackageResources.disk_yaml),
        .init("clocks", PackageResources.clocks_yaml),
        .init("cables", PackageResources.cables_yaml),
        .init("attachments", PackageResources.attachments_yaml),
        .init("refill", PackageResources.refill_yaml),
        .init("star", PackageResources.star_yaml),
        .init("chain", PackageResources.chain_yaml),
        .init("mesh", PackageResources.mesh_yaml),
        .init("versions", PackageResources.versions_yaml),
    ]

    package static func named(_ name: String) -> ShippedScenario? { all.first { $0.name == name } }

    private init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        text = String(decoding: bytes, as: UTF8.self)
    }
}
