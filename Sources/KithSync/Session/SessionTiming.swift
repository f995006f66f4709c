/// When a session speaks up, and when it gives up.
package struct SessionTiming: Hashable, Sendable {
    /// Until the peer's hello must be there.
    var helloMilliseconds: Int64 = 5_000
    /// Silence of our own after which a ping is sent.
    var keepAliveMilliseconds: Int64 = 15_000
    /// Silence of the peer after which the session is closed.
    package var silenceMilliseconds: Int64 = 45_000
    /// How long a replica leaves it to another one to bring the peer what it said it would.
    package var relayMilliseconds: Int64 = 1_000
    /// A difference of wall clocks beyond which it is reported.
    package var clockOffsetMilliseconds: Int64 = 120_000
    /// After the beginning of a session, and between two comparisons of digests.
    var digestDelayMilliseconds: Int64 = 1_000
    var digestMilliseconds: Int64 = 10_000
    /// After a comparison that found both equal, if nobody has written since: a row may have been damaged, or mended with somebody else.
    var digestAgainMilliseconds: Int64 = 60_000
    /// Between two steps of bringing a digest up to date.
    var digestStepMilliseconds: Int64 = 50
    /// How long an answer to a question about digests is waited for.
    var digestAnswerMilliseconds: Int64 = 60_000

    package init() {}
}
