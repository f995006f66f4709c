import Testing

@Suite("The part of a RealMachines test that runs on one host")
struct DiscoveryProcessTests {
    @Test(.enabled(if: DiscoveryProcess.current != nil, "the RealMachines tests start this by themselves"))
    func `announces and browses until it is told to end`() async throws {
        try await #require(DiscoveryProcess.current).live()
    }
}
