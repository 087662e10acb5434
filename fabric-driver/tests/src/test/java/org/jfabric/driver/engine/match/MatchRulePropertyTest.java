package org.jfabric.driver.engine.match;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jfabric.test.Requirement;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** The match rule for all 64-bit tags. */
class MatchRulePropertyTest {
    @Property
    @Requirement({"TAG-002", "TAG-003"})
    void shouldMatchExactlyWhenTheBitsThatCountAreEqual(
        @ForAll long sent, @ForAll long differing, @ForAll long ignore) {
        // tags that differ in a few bits only, so that both outcomes are common
        long received = sent ^ (differing & (differing >>> 3) & (differing << 7));
        TagMatcher matcher = new TagMatcher(4, 4, false);
        PostedReceive receive = new PostedReceive();
        receive.accept(received, ignore, TagMatcher.ANY_SOURCE);
        matcher.postReceive(receive);
        // the equivalent form with the ignored bits set on both sides
        boolean matches = (sent | ignore) == (received | ignore);
        assertEquals(matches ? receive : null, matcher.arrive(sent, TagMatcher.UNKNOWN_SOURCE));
    }
}
