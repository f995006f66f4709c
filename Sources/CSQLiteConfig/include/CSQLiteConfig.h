#ifndef CSQLITECONFIG_H
#define CSQLITECONFIG_H

#include <sqlite3.h>

// `sqlite3_db_config` takes a list of arguments that varies, which Swift cannot pass.

/// Lets triggers fire on `connection`, or not. Returns a result code of SQLite.
static inline int kith_enable_triggers(sqlite3 *connection, int enabled) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, enabled, (int *)0);
}

/// Whether SQLite acts on foreign keys in statements of `connection`.
static inline int kith_obeys_foreign_keys(sqlite3 *connection) {
    int obeys = 0;
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_FKEY, -1, &obeys);
    return obeys;
}

#endif
