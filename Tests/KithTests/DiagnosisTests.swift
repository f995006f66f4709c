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
        seen.devices = [Observations.Device(name: "laptop", reach: .connected(at: "10.0.0.2:4747"))]
        return seen
    }

    private func problems(_ change: (inout Observations) -> Void) -> [DiagnosisFinding] {
        var seen = healthy
        change(&seen)
        return seen.findings.filter { $0.verdict != .good }
    }

    @Test func `where all is well nothing is wrong`() {
        #expect(healthy.findings.allSatisfy { $0.verdict == .good && $0.remedy == nil })
    }

    @Test func `each cause is named with its remedy`() {
        let cases: [(check: String, change: (inout Observations) -> Void)] = [
            ("household", { $0.standing = .alone }), ("household", { $0.standing = .removed }), ("household", { $0.standing = .joining }),
            ("node", { $0.isNodeRunning = false }), ("disk", { $0.freeBytes = Observations.freeBytesMin - 1 }),
            ("network", { $0.addresses = [] }), ("mdns", { $0.mdnsFailure = "no daemon" }), ("mdns", { $0.announcementsHeard = 0 }),
            ("mdns", { $0.usesDiscovery = false }), ("device", { $0.devices[0] = .init(name: "x", reach: .noAddress) }),
            ("device", { $0.devices[0] = .init(name: "x", reach: .silent(at: "h:1")) }), ("device", { $0.devices[0].twins = ["h", "i"] }),
            ("key", { $0.twin = "h" }), ("key", { $0.isKeyForked = true }),
            ("clock", { $0.wrongClocks = [.init(name: "x", address: "h", hoursAhead: 48)] }),
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

    @Test func `lengths of time and numbers read as people say them`() {
        let clocks: [(Observations.WrongClock, String)] = [
            (
                .init(name: nil, address: "10.0.0.2", hoursAhead: 48),
                "A Kith device here (10.0.0.2) has a clock that is 48 h ahead of this one's."
            ),
            (.init(name: "attic", address: nil, hoursAhead: -96), "attic's clock is 4 days behind this one's."),
            (.init(name: nil, address: nil, hoursAhead: .max), ""),
        ]
        for (clock, sentence) in clocks {
            let found = problems { $0.wrongClocks = [clock] }.first?.sentence
            #expect(sentence.isEmpty ? found != nil : found == sentence, "\(found ?? "")")
        }
        #expect(
            problems { $0.devices[0].clockOffsetMilliseconds = 71_999_000 }.first?.sentence.contains("20 h ahead of this one's") == true)
        #expect(healthy.findings.contains { $0.sentence == "This device is in a household with 1 other." })
        #expect(healthy.findings.contains { $0.sentence.contains("1 other node is announced") })
        let texts: [(Int64, String)] = [
            (45_000, "45 s"), (119_499, "119 s"), (-180_000, "3 min"), (7_200_000, "2 h"), (71_999_000, "20 h"), (259_200_000, "3 days"),
            (.min, "106751991167 days"),
        ]
        for (milliseconds, text) in texts { #expect(PlainDuration.text(milliseconds: milliseconds) == text) }
    }

    @Test func `an unpaired machine says what it hears and what it does not`() {
        var seen = healthy
        seen.standing = .alone
        seen.devices = []
        #expect(seen.findings.contains { $0.check == "mdns" && $0.verdict == .good })
        seen.announcementsHeard = 0
        #expect(seen.findings.contains { $0.check == "mdns" && $0.sentence.contains("no other node is announced") })
    }
}
