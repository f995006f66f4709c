/// How large a slice may become.
package struct SliceLimits: Hashable, Sendable {
    package var rowsMax: Int
    package var bytesMax: Int
    /// Bytes of a row's texts that travel at once; a single larger change travels alone.
    package var textBytesMax: Int
    /// Changes of texts in a slice.
    package var textChangesMax: Int

    package init(
        rowsMax: Int = WireLimits.sliceRowsMax, bytesMax: Int = WireLimits.sliceBytesMax,
        textBytesMax: Int = WireLimits.textBytesAtOnceMax, textChangesMax: Int = WireLimits.textChangesAtOnceMax
    ) {
        self.textBytesMax = max(1, textBytesMax)
        self.textChangesMax = max(1, textChangesMax)
        self.rowsMax = max(1, rowsMax)
        self.bytesMax = max(1, bytesMax)
    }
}
