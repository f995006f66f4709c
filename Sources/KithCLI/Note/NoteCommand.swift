import ArgumentParser

struct NoteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note",
        abstract: "Write, read and search notes.",
        discussion: """
            A note is named by its title or its id. Of an id, the beginning or the end is enough, from four digits on; \
            lists show the end.

            EXAMPLES
              kith note add "Shopping" --body "Bread, coffee" --tag home --color yellow
              kith note list --tag home
              kith note show Shopping
              kith note edit 8f3a91c2 --add-tag urgent
              kith note history Shopping
              kith note undo
              kith note search coffee
              kith note attach Shopping list.pdf
            """,
        subcommands: [
            NoteAdd.self, NoteList.self, NoteShow.self, NoteEdit.self, NoteHistory.self, NoteExplain.self, NoteUndo.self, NoteMove.self,
            NotePin.self, NoteUnpin.self, NoteRemove.self, NoteSearch.self,
            NoteAttach.self, NoteAttachments.self, NoteDetach.self, NoteSave.self,
        ])
}
