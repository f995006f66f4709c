import Foundation
import GRDB
import KithLedger
import KithMerge
import KithSQLite
import KithSync

extension SyncedDatabase {
    /// Lets SQL on this connection ask for attachments:
    ///
    ///     SELECT name, kith_attachment_state(file), kith_attachment_received(file), kith_attachment_size(file) FROM attachment
    ///
    /// * `kith_attachment_state`: `present`, `on its way`, `not fetched` or `damaged`
    /// * `kith_attachment_received`: the bytes that are here
    /// * `kith_attachment_size`: the bytes of the whole, NULL while they are not known
    ///
    /// All are NULL for what is no attachment's id. A store has them on its writing connection; for the readers of a `DatabasePool`,
    /// call this in `Configuration.prepareDatabase`.
    public static func addAttachmentFunctions(to db: Database) throws(StoreError) {
        try StoreError.typed {
            let row = try Row.fetchOne(db, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'")
            guard let path: String = row?[0], !path.isEmpty else { return addAttachmentFunctions(to: db, nil) }
            addAttachmentFunctions(to: db, AttachmentFolder(databasePath: path))
        }
    }

    static func addAttachmentFunctions(to db: Database, _ folder: AttachmentFolder?) {
        func add(_ name: String, _ value: @escaping @Sendable (AttachmentState) -> (any DatabaseValueConvertible)?) {
            db.add(
                function: DatabaseFunction(name, argumentCount: 1) { arguments in
                    guard let text = String.fromDatabaseValue(arguments[0]), let id = AttachmentID(text) else { return nil }
                    return value(folder?.state(id) ?? .onItsWay(receivedBytes: 0, sizeBytes: nil))
                })
        }
        add("kith_attachment_state") { state in
            switch state {
            case .present: "present"
            case .onItsWay: "on its way"
            case .notFetched: "not fetched"
            case .damaged: "damaged"
            }
        }
        add("kith_attachment_received") { state in
            switch state {
            case .present(let file): file.sizeBytes
            case .onItsWay(let received, _), .damaged(let received, _): received
            case .notFetched: 0
            }
        }
        add("kith_attachment_size") { $0.sizeBytes }
    }
}
