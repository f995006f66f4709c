import Foundation
import KithCausality
import KithLedger
import KithStore
import KithSync
import KithTrust

extension Carrier {
    /// What became of a file.
    package enum Outcome: String, Hashable, Sendable, CaseIterable {
        /// What it brings is here now.
        case taken
        /// All that it brings was here before.
        case nothingNew
        /// This device made it.
        case own
        /// It goes on from changes that are not here.
        case needsEarlier
        /// It is not for this device, or no file of `kith carry`.
        case notForUs
        /// It is damaged, or what it says is refused.
        case refused
    }

    /// A file that was looked at.
    package struct Reading: Hashable, Sendable {
        package let path: String
        package let outcome: Outcome
        /// What the household calls the device that made it; `nil` if that is not known.
        package var writer: String?
        /// Rows that it brought, known ones included.
        package var rows: UInt64 = 0
        /// Attachments that were completed.
        package var attachments = 0
        /// Attachments that rows here show and the file has, and that could not be completed.
        package var attachmentsLeft = 0
        /// What happened, for people.
        package var message: String
    }

    /// Most files that are looked for in a folder.
    package static let namesMax = 10_000

    /// Takes in what a file brings, or all carried files of a folder, in whatever order they fit together. No file is changed.
    ///
    /// - Parameter progress: told how many rows were taken in.
    /// - Throws: ``CarryError`` if there is nothing to read; `StoreError`, `TrustError` if this machine fails. What was taken in by then stays,
    ///   and reading the same again goes on.
    package func read(_ place: String, progress: (Int) -> Void = { _ in }) throws -> [Reading] {
        let proofs = try prepare()
        guard trust.standing == .member || trust.standing == .joining else {
            throw CarryError(
                .notAMember, "This machine is in no household, so no file can be for it. Pair it with another machine first: kith pair.")
        }
        var pending = try files(in: place)
        var readings: [String: Reading] = [:]
        var rows = 0
        // What one file goes on from may stand in another one.
        while !pending.isEmpty {
            let waiting = try pending.filter { path in
                let reading = try read(file: path, proofs) { progress(rows + $0) }
                rows += Int(clamping: reading.rows)
                readings[path] = reading
                return reading.outcome == .needsEarlier
            }
            if waiting.count == pending.count { break }
            pending = waiting
        }
        return readings.values.sorted { $0.path < $1.path }
    }

    private func files(in place: String) throws -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: place, isDirectory: &isFolder) else {
            throw CarryError(.notFound, "There is no file or folder \(place). Is the stick in?")
        }
        // A person who names a link means the file behind it. Links in a folder are not followed: nobody has named them.
        if !isFolder.boolValue { return [URL(filePath: place).resolvingSymlinksInPath().path] }
        let folder = URL(filePath: place, directoryHint: .isDirectory)
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            throw CarryError(.inputOutput, "\(place) cannot be read: \(error.localizedDescription)")
        }
        guard names.count <= Self.namesMax else {
            throw CarryError(
                .notFound, "\(place) holds more than \(Self.namesMax) files. Name the file, or put it into a folder of its own.")
        }
        // What begins with a dot is in the making, or of the system.
        let files = names.filter { !$0.hasPrefix(".") }.sorted().map { folder.appending(path: $0).path }
            .filter { CarriedFile.isCarried($0) || CarriedFile.isNamed($0) }
        if files.isEmpty {
            throw CarryError(.notFound, "\(place) holds no file of kith carry. Was `kith carry out` run on the other machine?")
        }
        return files
    }

    // MARK: One file

    func read(file path: String, _ proofs: any ProofBook, _ progress: (Int) -> Void) throws -> Reading {
        let file: CarriedFile
        do {
            file = try CarriedFile(path, trust, scratch: scratch)
        } catch let error as CarryError {
            switch error.code {
            case .notForUs, .notCarried: return Reading(path: path, outcome: .notForUs, message: error.message)
            case .damaged: return Reading(path: path, outcome: .refused, message: error.message)
            default: throw error
            }
        }
        guard let writer = DeviceKey.device(ofPublicKey: file.head.key), isOwn(file.head.key) || trust.isMember(writer, with: file.records)
        else {
            let message = "\(path) was made by a machine that is not in the household (any more). Nothing of it was taken in."
            return Reading(path: path, outcome: .refused, message: message)
        }
        if file.hello.replica == (try store.summary().replica), isOwn(file.head.key) {
            // After a restore, the file may know of more than this store does: then it is another replica's.
            if let head = file.hello.heads.first(where: { $0.dot.replica == file.hello.replica }) { _ = try store.verifyIdentity(head) }
            let summary = try store.summary()
            if file.hello.replica == summary.replica {
                guard file.hello.isBeyond(summary.vector) else {
                    // The household and attachments may have been set back without the store.
                    var intake = CarryIntake(self, writer, file.head)
                    try intake.readBesideRows(file)
                    return intake.ownReading(of: path)
                }
                // What others had written is lost as well.
                _ = try store.renewIdentity(from: summary.replica)
            }
        }
        var intake = CarryIntake(self, writer, file.head)
        try intake.read(file, configuration(proofs, peer: writer), progress)
        if intake.isRenamed {
            // The file knew of commits that this store has lost: it is another replica now, and takes them in as that.
            intake = CarryIntake(self, writer, file.head)
            try intake.read(file, configuration(proofs, peer: writer), progress)
        }
        // Its signature has shown that it holds the key, and its records may have made it a member. What was taken in stays if that cannot
        // be noted now: the next file of it will do.
        try? trust.note(publicKey: file.head.key)
        return intake.reading(of: path)
    }
}

extension Hello {
    /// Whether its sender knows commits that `vector` does not cover.
    func isBeyond(_ vector: VersionVector) -> Bool { !heads.allSatisfy { vector.covers($0.dot) } }
}

/// What is taken in of one file.
private struct CarryIntake {
    private let carrier: Carrier
    private let writer: DeviceID
    private let head: CarriedHead
    private var rows: UInt64 = 0
    private var attachments = 0
    private var hasMoved = false
    /// Whether the household is another one now.
    private var hasNews = false
    private var status: PeerStatus?
    private var holdings = HoldingNews()
    /// What the word of its writer counts for; `nil` while it is not noted.
    private var word: CarriedWord?
    private var reader: CarryReader?
    private var rejection: String?
    private var incoming: IncomingAttachment?
    /// What visible rows show and is not here.
    private var wanted: Set<AttachmentID>?
    /// What of that the file has, and is not here yet.
    private var left: Set<AttachmentID> = []

    init(_ carrier: Carrier, _ writer: DeviceID, _ head: CarriedHead) {
        self.carrier = carrier
        self.writer = writer
        self.head = head
    }

    mutating func read(_ file: CarriedFile, _ configuration: PeerSession.Configuration, _ progress: (Int) -> Void) throws {
        let store = carrier.store
        let before = try store.summary()
        do {
            var reader = try CarryReader(configuration, before, wallClockMilliseconds: MonotonicClock.wallClockMilliseconds) {
                try perform($0, progress)
            }
            try file.forEachFrame { frame in
                try reader.read(frame) { try perform($0, progress) }
                return reader.reason == nil
            }
            self.reader = reader
        } catch let error as StoreError where error.code == .sliceRejected {
            rejection = error.message
        }
        rejection = rejection ?? reader?.reason?.message
        if rejection == nil {
            try noteWord()
            if let word, word != .older { try store.noteHoldings(holdings, of: writer.bytes, isCertain: word == .newest) }
        }
        _ = try store.makeDurable()
        hasMoved = try store.summary().vector != before.vector
    }

    /// Takes in what a file of this very store has beside rows, which are all here.
    mutating func readBesideRows(_ file: CarriedFile) throws {
        try file.forEachFrame { frame in
            switch try? FrameCodec.decode(frame) {
            case .household(let bytes)?: try hearOfHousehold(bytes)
            case .attachment(let message)?: try take(message)
            default: break
            }
            return true
        }
    }

    /// Whether the store has found out by the file that it is a restored copy.
    var isRenamed: Bool { reader?.reason?.code == .identityChanged }

    private func reading(of path: String, _ outcome: Carrier.Outcome, _ message: String) -> Carrier.Reading {
        Carrier.Reading(
            path: path, outcome: outcome, writer: carrier.name(of: writer), rows: rows, attachments: attachments,
            attachmentsLeft: left.count { !carrier.store.isAttachmentHere($0) }, message: message)
    }

    /// What became of a file of this very store.
    func ownReading(of path: String) -> Carrier.Reading {
        if hasNews || attachments > 0 {
            return reading(of: path, .taken, "\(path) was made by this machine, which had lost some of it since. That was taken in.")
        }
        return reading(of: path, .own, "\(path) was made by this machine.")
    }

    func reading(of path: String) -> Carrier.Reading {
        let name = carrier.name(of: writer)
        func reading(_ outcome: Carrier.Outcome, _ message: String) -> Carrier.Reading { self.reading(of: path, outcome, message) }
        if let rejection { return reading(.refused, "\(path), made by \(name), was not taken in to its end: \(rejection)") }
        if reader?.needsWholeRows == true {
            return reading(
                .needsEarlier, "\(path) has changes of rows that are not here any more. On \(name), run kith carry out with --all.")
        }
        if reader?.isRefused == true {
            return reading(
                .needsEarlier,
                """
                \(path) goes on from changes of \(name) that are not here; nothing of it was taken in. Read an earlier file first, or run \
                kith carry out with --all there.
                """)
        }
        if hasMoved || attachments > 0 { return reading(.taken, "\(path), made by \(name), was taken in.") }
        return reading(.nothingNew, "\(path), made by \(name), brings nothing new.")
    }

    /// Does what the session asks.
    private mutating func perform(_ effect: PeerSession.Effect, _ progress: (Int) -> Void) throws -> PeerSession.Input? {
        let store = carrier.store
        switch effect {
        case .apply(let slice, _):
            // Before rows come, so that a store that was away for long believes which were deleted.
            try noteWord()
            let outcome = try store.apply(slice, from: writer.bytes)
            if case .applied = outcome {
                rows += UInt64(slice.rows.count)
                progress(Int(clamping: rows))
            }
            return .applied(outcome)
        case .verifyIdentity(let head): return .identity(try store.verifyIdentity(head))
        case .household(let bytes): try hearOfHousehold(bytes)
        case .attachment(let message): try take(message)
        case .peer(let status): self.status = status
        case .renewIdentity, .send, .readSlice, .digest, .close: break
        }
        return nil
    }

    /// Writes down what the writer says that it cannot lose.
    private mutating func noteWord() throws {
        guard word == nil, let status, writer != carrier.key.id else { return }
        word = try carrier.store.noteMember(
            writer.bytes, replica: status.replica, vector: status.vector, durable: status.durable, madeMilliseconds: head.madeMilliseconds)
    }

    private mutating func hearOfHousehold(_ bytes: [UInt8]) throws {
        // A later version may say more; what is not understood is passed over.
        guard let message = HouseholdMessage(bytes) else { return }
        // A digest says what a member holds now. Of itself a device knows that better than its file.
        if case .digest = message, carrier.isOwn(head.key) { return }
        guard try carrier.trust.answer(message).hasChanged else { return }
        hasNews = true
        try carrier.introduceMembers()
    }

    // MARK: Attachments

    private mutating func take(_ message: AttachmentMessage) throws {
        do {
            switch message {
            case .holdings(let news): holdings.hear(news)
            case .outline(let id, let outline): incoming = try begin(id, outline)
            case .chunk(let id, let index, let bytes):
                guard var attachment = incoming, attachment.id == id, attachment.chunksHeld <= index else { return }
                try attachment.append(bytes, chunk: index)
                incoming = attachment
                try finishIfComplete()
            case .want, .haveNot, .have: break
            }
        } catch let error as StoreError where [.sliceRejected, .busy, .notFound].contains(error.code) {
            // The piece is wrong, or a node is writing the same attachment, which is left to the node or to the next reading.
            incoming = nil
        }
    }

    /// Begins to take what a row here shows; the rest is passed over.
    private mutating func begin(_ id: AttachmentID, _ outline: AttachmentOutline) throws -> IncomingAttachment? {
        let store = carrier.store
        if wanted == nil { wanted = Set(try store.heldAttachments().filter { !$0.isHere }.map(\.id)) }
        guard wanted?.contains(id) == true else { return nil }
        left.insert(id)
        let attachment = try store.keepOutline(outline, of: id)
        // One that is too large to be fetched unasked was carried by hand: that is asking for it.
        if try !store.beginFetching(attachment) {
            try store.fetchAttachment(id)
            guard try store.beginFetching(attachment) else { return nil }
        }
        incoming = attachment
        try finishIfComplete()
        return incoming
    }

    private mutating func finishIfComplete() throws {
        guard let attachment = incoming, attachment.isComplete else { return }
        try carrier.store.finish(attachment)
        attachments += 1
        left.remove(attachment.id)
        incoming = nil
    }
}
