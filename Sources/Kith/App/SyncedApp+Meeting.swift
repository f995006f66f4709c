import Foundation
import GRDB
import KithTrust

/// Two devices of one app in one process, for tests and previews.
extension SyncedApp {
    /// How long two apps may take to come to hold the same.
    public static let meetingTime = Duration.seconds(60)

    /// Two devices in memory that trust each other, with the same tables.
    ///
    ///     let (phone, laptop) = try await SyncedApp.pair(tables: [TrackedTable("item")], migrator: migrator)
    ///     try await phone.database.write { db in try Item(title: "Milk").insert(db) }
    ///     try await phone.meet(laptop)
    ///
    /// Neither is started: what one writes is on the other after ``meet(_:)``, or by itself once both are started.
    public static func pair(
        _ id: AppID = "org.example.pair", tables: [TrackedTable], migrator: DatabaseMigrator? = nil, options: Options = Options()
    ) async throws(SyncedAppError) -> (SyncedApp, SyncedApp) {
        func device(_ name: String) throws(SyncedAppError) -> SyncedApp {
            var options = options
            options.deviceName = name
            return try SyncedApp(id, migrator: migrator, tables: tables, at: .inMemory, options: options)
        }
        let (first, second) = (try device("first"), try device("second"))
        try first.introduce(to: second)
        return (first, second)
    }

    /// Lets both devices trust each other, as people do by pairing them. Devices that do already stay as they are.
    ///
    /// For apps of one process that meet without a network: those in memory, and those with ``Options/isInProcess``.
    /// - Throws: ``SyncedAppError`` with code `cannotMeet`: they are different apps, one of them meets others over the network, or each is in
    ///   a household of its own; `identity`.
    public func introduce(to other: SyncedApp) throws(SyncedAppError) {
        guard id == other.id, node.configuration.isInProcess, other.node.configuration.isInProcess else {
            throw SyncedAppError(
                .cannotMeet, "Only two devices of one app that are in memory, or were opened with isInProcess, can be introduced.")
        }
        if self === other { throw SyncedAppError(.cannotMeet, "A device cannot meet itself.") }
        if trust.isTrusted(other.trust.ownID), other.trust.isTrusted(trust.ownID) { return }
        if trust.standing == .joining || other.trust.standing == .joining {
            throw SyncedAppError(
                .cannotMeet, "One of the two devices was introduced to another one and has not met it yet. Let it do that first.")
        }
        let isMember = trust.standing == .member
        if isMember, other.trust.standing == .member {
            guard trust.household?.id == other.trust.household?.id else {
                throw SyncedAppError(.cannotMeet, "Each of the two devices is in a household of its own.")
            }
            // A third device has brought both into one household, and they have not heard of each other yet.
            do throws(TrustError) {
                try trust.hear(of: other.trust)
                try other.trust.hear(of: trust)
            } catch {
                throw SyncedAppError(error)
            }
            if trust.isTrusted(other.trust.ownID), other.trust.isTrusted(trust.ownID) { return }
            throw SyncedAppError(.cannotMeet, "One of the two devices was removed from the household.")
        }
        if !isMember, other.trust.standing == .member { return try other.introduce(to: self) }
        do throws(TrustError) {
            let household = try KithTrust.Household.founded(as: deviceName, by: node.key)
            try trust.admit(other.asTrusted, founding: household)
            guard let joined = trust.household else { return }
            try other.trust.join(joined.id, through: asTrusted)
        } catch {
            throw SyncedAppError(error)
        }
    }

    private var asTrusted: TrustedDevice {
        get throws(TrustError) {
            try TrustedDevice(id: trust.ownID, name: ProposedName.sanitized(Array(deviceName.utf8)), added: Date())
        }
    }

    /// Introduces both if need be, and returns when each has what the other one had, attachments included, and knows it. Apps that were not started are
    /// stopped again, once their last meeting is over: an app may meet several others at once.
    ///
    /// It goes the way that real devices go, over a connection within the process.
    /// - Throws: ``SyncedAppError`` with code `cannotMeet` if the two may not meet, or the app stops one of them before both hold the same;
    ///   `notInTime` if both do not hold the same within ``meetingTime``; `CancellationError`.
    public func meet(_ other: SyncedApp) async throws {
        try introduce(to: other)
        beginMeeting()
        other.beginMeeting()
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await becomeEqual(with: other))
        } catch {
            outcome = .failure(error)
        }
        await endMeeting()
        await other.endMeeting()
        try outcome.get()
    }

    private func becomeEqual(with other: SyncedApp) async throws {
        if try holdsTheSame(as: other) { return }
        let end = ContinuousClock.now + Self.meetingTime
        while try !(holdsTheSame(as: other) && hasHeard(other) && other.hasHeard(self)) {
            guard isRunning, other.isRunning else {
                throw SyncedAppError(.cannotMeet, "One of the two devices was stopped before both held the same, or can only be read.")
            }
            guard ContinuousClock.now < end else {
                throw SyncedAppError(
                    .notInTime, "The two devices did not come to hold the same. \(status.sentence) The other one: \(other.status.sentence)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private func holdsTheSame(as other: SyncedApp) throws -> Bool {
        // Who joins hears the household's records first.
        guard trust.standing == .member, trust.householdDigest == other.trust.householdDigest else { return false }
        guard try store.vector() == other.store.vector() else { return false }
        return try !lacksAttachments(of: other) && !other.lacksAttachments(of: self)
    }

    /// Whether it knows that the other one has what it has: until then the status, the events and the spans of the meeting would end as
    /// though it had been interrupted.
    private func hasHeard(_ other: SyncedApp) -> Bool {
        let id = other.trust.ownID.description
        guard let peer = status.peers.first(where: { $0.deviceID == id }) else { return false }
        return peer.isInSync && peer.sending == nil && peer.receiving == nil
    }

    private func lacksAttachments(of other: SyncedApp) throws -> Bool {
        guard store.showsAttachments else { return false }
        let here = Set(other.store.attachmentsHere())
        return try store.wantedAttachments().contains(where: here.contains)
    }
}
