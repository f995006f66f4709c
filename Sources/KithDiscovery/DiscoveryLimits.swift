/// What discovery keeps and does at most, whatever is announced around it.
package struct DiscoveryLimits: Hashable, Sendable {
    /// Names that are followed at once.
    package var announcementsMax = 256
    /// Addresses kept of one name.
    package var addressesMax = 8
    /// Interfaces that one name is followed on.
    var interfacesMax = 8
    /// Names that are looked up at once. Each takes up to three connections to the mDNS daemon.
    var lookupsMax = 24
    /// How long a look-up may go on while others wait for their turn.
    var lookupTurn = Duration.seconds(2)
    /// How long a name known from an earlier browse has to be seen again.
    var confirmation = Duration.seconds(5)
    /// The time between two browses while there is more around than `announcementsMax`.
    var rebrowse = Duration.seconds(10)
    /// The wait after the mDNS daemon failed for the first time; it doubles with each further failure.
    var retryFirst = Duration.milliseconds(500)
    var retryMax = Duration.seconds(10)

    package init() {}
}
