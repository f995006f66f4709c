import Testing

@Suite("The part of a RealMachines test that runs on one host")
struct DiscoveryProcessTests {
    @Test(
        "announces and browses until it is told to end",
        .enabled(if: DiscoveryProcess.current != nil, "the RealMachines tests start this by themselves"))
    func live() async throws {
        try await #require(DiscoveryProcess.current).live()
    }
}
