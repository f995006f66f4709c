import GRDB

/// An app as many are, from before it thought of other devices: numbers and names for keys, a search index, triggers.
enum PantryBefore {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("pantry") { db in
            try db.execute(
                sql: """
                    CREATE TABLE recipe (
                        id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, steps TEXT NOT NULL DEFAULT '', course TEXT,
                        cooked INTEGER NOT NULL DEFAULT 0 CHECK (cooked >= 0), labels TEXT NOT NULL DEFAULT '[]', updatedAt TEXT);
                    CREATE TABLE ingredient (
                        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL DEFAULT '',
                        recipe INTEGER NOT NULL REFERENCES recipe (id) ON DELETE CASCADE);
                    CREATE TABLE shop (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '');
                    CREATE TABLE item (
                        ingredient INTEGER NOT NULL REFERENCES ingredient (id) ON DELETE CASCADE,
                        shop TEXT NOT NULL REFERENCES shop (id) ON DELETE CASCADE,
                        amount INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (ingredient, shop));
                    CREATE TABLE journal (
                        day TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL DEFAULT '',
                        recipe INTEGER REFERENCES recipe (id) ON DELETE SET NULL);
                    CREATE INDEX ingredientOfRecipe ON ingredient (recipe);
                    CREATE VIEW shopping AS
                        SELECT g.name AS ingredient, s.name AS shop, i.amount FROM item i
                        JOIN ingredient g ON g.id = i.ingredient JOIN shop s ON s.id = i.shop;
                    CREATE TRIGGER recipeUpdated AFTER UPDATE OF title, steps ON recipe BEGIN
                        UPDATE recipe SET updatedAt = '2026-11-21' WHERE id = new.id; END;
                    """)
            try db.create(virtualTable: "recipeText", using: FTS5()) { table in
                table.synchronize(withTable: "recipe")
                table.column("title")
                table.column("steps")
            }
        }
        return migrator
    }

    /// What somebody has written with it.
    static let rows = """
        INSERT INTO recipe (id, title, steps, course, cooked, labels) VALUES
            (3, 'Soup', 'Boil.', 'starter', 4, '["warm"]'), (7, 'Bread', 'Bake.', 'brunch', 1, '[]');
        INSERT INTO ingredient (id, name, recipe) VALUES (1, 'Water', 3), (2, 'Flour', 7);
        INSERT INTO shop VALUES ('018F3C2E-4A6B-7C1D-9E2F-3A4B5C6D7E8F', 'Mill');
        INSERT INTO item VALUES (2, '018F3C2E-4A6B-7C1D-9E2F-3A4B5C6D7E8F', 5);
        INSERT INTO journal VALUES ('2026-11-20', 'Good bread.', 7);
        """
}
