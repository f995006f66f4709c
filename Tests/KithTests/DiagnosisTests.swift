import KithTransport
import Testing

@testable import Kith

/// The risk: two devices do not meet, and what people read does not say why or what to do.
@Suite struct DiagnosisTests {
    private var healthy: Observations {
        var seen = Observations()
        seen.standing = .member
        seen.isNodeRunning = true
        seen.freeBytes = 10 << 30
        seen.addresses = ["10.0.0.1"]
        seen.announcementsHeard = 1
        seen.devices = [Observations.Device(name: "laptop", reach: .connected)]
        return seen
    }

    private func problems(_ change: (inout Observations) -> Void) -> [DiagnosisFinding] {
        var seen = healthy
        change(&seen)
        return seen.findings.filter { $0.verdict != .good }
    }

    @Test func whereAllIsWellNothingIsWrong() {
        #expect(healthy.findings.allSatisfy { $0.verdict == .good && $0.remedy == nil })
    }

    @Test func eachCauseIsNamedWithItsRemedy() {
        let cases: [(check: String, change: (inout Observations) -> Void)] = [
            ("household", { $0.standing = .alone }), ("household", { $0.standing = .removed }), ("household", { $0.standing = .joining }),
            ("node", { $0.isNodeRunning = false }), ("disk", { $0.freeBytes = Observations.freeBytesMin - 1 }),
            ("network", { $0.addresses = [] }), ("mdns", { $0.mdnsFailure = "no daemon" }), ("mdns", { $0.announcementsHeard = 0 }),
            ("mdns", { $0.usesDiscovery = false }), ("device", { $0.devices[0] = .init(name: "x", reach: .noAddress) }),
            ("device", { $0.devices[0].clockOffsetMilliseconds = -400_000 }),
            ("device", { $0.devices[0] = .init(name: "x", reach: .failed(at: "h:1", .refusedByPeer, "refused")) }),
            ("device", { $0.devices[0] = .init(name: "x", reach: .failed(at: "h:1", .timedOut, "silent")) }),
            ("device", { $0.devices[0] = .init(name: "x", reach: .reached(at: "h:1"), lastError: "versions") }),
        ]
        for (index, (check, change)) in cases.enumerated() {
            let found = problems(change)
            #expect(found.count == 1 && found.first?.check == check, "case \(index): \(found)")
            #expect(found.first?.remedy?.isEmpty == false, "case \(index)")
        }
        #expect(problems { $0.freeBytes = Observations.freeBytesMin }.isEmpty)
    }
}
