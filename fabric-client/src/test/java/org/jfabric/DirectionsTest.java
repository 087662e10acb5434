package org.jfabric;

import static org.jfabric.info.Flags.ATOMIC;
import static org.jfabric.info.Flags.MSG;
import static org.jfabric.info.Flags.READ;
import static org.jfabric.info.Flags.RECV;
import static org.jfabric.info.Flags.REMOTE_READ;
import static org.jfabric.info.Flags.REMOTE_WRITE;
import static org.jfabric.info.Flags.RMA;
import static org.jfabric.info.Flags.SEND;
import static org.jfabric.info.Flags.TAGGED;
import static org.jfabric.info.Flags.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jfabric.info.Info;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DirectionsTest {
    private static final long MESSAGES = SEND | RECV;
    private static final long ACCESSES = READ | WRITE | REMOTE_READ | REMOTE_WRITE;

    static Arguments[] capabilities() {
        return new Arguments[] {
            Arguments.of(0, MESSAGES),
            Arguments.of(MSG, MESSAGES),
            Arguments.of(TAGGED | RECV, RECV),
            Arguments.of(MSG | READ, MESSAGES),
            Arguments.of(RMA, ACCESSES),
            Arguments.of(ATOMIC | REMOTE_WRITE, REMOTE_WRITE),
            Arguments.of(RMA | SEND, ACCESSES),
            Arguments.of(RMA | TAGGED | SEND, SEND | ACCESSES),
            Arguments.of(RMA | ATOMIC | MSG | WRITE | REMOTE_READ, MESSAGES | WRITE | REMOTE_READ),
        };
    }

    @ParameterizedTest
    @MethodSource("capabilities")
    void shouldIncludeAllDirectionsOfATransferUnlessSomeAreNamed(long caps, long directions) {
        assertEquals(directions, Info.directions(caps));
        Info info = new Info().caps(caps);
        assertEquals((directions & (SEND | READ | WRITE)) != 0, info.transmits());
        assertEquals((directions & (RECV | REMOTE_READ | REMOTE_WRITE)) != 0, info.receives());
    }
}
