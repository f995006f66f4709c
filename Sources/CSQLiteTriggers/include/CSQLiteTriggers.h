#ifndef CSQLITETRIGGERS_H
#define CSQLITETRIGGERS_H

#include <sqlite3.h>

/// Lets triggers fire on `connection`, or not. Returns a result code of SQLite.
///
/// `sqlite3_db_config` takes a list of arguments that varies, which Swift cannot pass.
static inline int kith_enable_triggers(sqlite3 *connection, int enabled) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, enabled, (int *)0);
}

#endif
