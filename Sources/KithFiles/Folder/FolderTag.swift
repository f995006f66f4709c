import KithNotes

/// Folders as tags: a file in `work/plans` has the tag `work/plans`, which its front matter need not say.
enum FolderTag {
    /// The tag that the place of a file means; `nil` in the outermost folder, and where the names are no tag.
    static func tag(at path: String) -> String? {
        let folder = RelativePath.folder(of: path)
        return folder.isEmpty ? nil : ForeignNote.tag(String(folder), isOurs: false)
    }

    /// The folder for the file of a note with these tags: the first that names folders which all systems can hold; empty without one.
    static func folder(for tags: some Sequence<String>) -> String {
        tags.first { tag in
            let names = RelativePath.names(of: tag)
            return names.joined(separator: "/").utf8.elementsEqual(tag.utf8) && names.count < FolderWalk.depthMax
                && names.allSatisfy { $0.utf8.elementsEqual(FileName.stem(for: $0).utf8) } && names.first != MarkdownExport.attachmentFolder
                && ForeignNote.tag(tag, isOurs: false).map { $0.utf8.elementsEqual(tag.utf8) } == true
        } ?? ""
    }
}
