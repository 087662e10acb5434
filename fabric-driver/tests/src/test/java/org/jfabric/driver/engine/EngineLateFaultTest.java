package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.engine.late.LateFault;
import org.jfabric.driver.engine.late.LateFaultLoader;
import org.jfabric.driver.kit.Effort;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * In compiled code a fault of shared memory is raised at some safepoint behind the access, wherever the compiler has
 * left one. Here it is raised behind each call in turn.
 */
@Isolated("there is one late fault")
class EngineLateFaultTest {
    private static final int MOST_PLACES = 1000;

    private final Class<?> run;

    EngineLateFaultTest() throws ClassNotFoundException {
        String name = LateFaultRun.class.getName();
        run = new LateFaultLoader(EngineLateFaultTest.class.getClassLoader(), name).loadClass(name);
    }

    @ParameterizedTest
    @CsvSource({
        "0, true, 8", "0, false, 8", "0, true, 100000", "0, false, 100000",
        "DELIVERY, true, 8", "DELIVERY, false, 8", "DELIVERY, true, 100000", "DELIVERY, false, 100000",
        "MATCH, true, 8", "MATCH, false, 8", "MATCH, true, 100000", "MATCH, false, 100000",
    })
    void shouldEndEachOperationOnceWhereverTheFaultIsRaised(String name, boolean receivesFirst, int length)
        throws ReflectiveOperationException {
        long level = name.equals("DELIVERY") ? Flags.DELIVERY_COMPLETE
            : name.equals("MATCH") ? Flags.MATCH_COMPLETE : 0;
        var exchange = run.getMethod("exchange", long.class, boolean.class, int.class, int.class);
        int places = assertAtEveryPlace(
            calls -> (String) exchange.invoke(null, level, receivesFirst, length, calls));
        boolean isShort = level == 0 && receivesFirst && length == 8;
        assertEquals(isShort, places == 1, "the short path has its fault point right behind the copy");
    }

    @Test
    void shouldEndSendsInOrderWhereverTheFaultIsRaised() throws ReflectiveOperationException {
        var exchange = run.getMethod("exchangeInOrder", int.class);
        assertTrue(assertAtEveryPlace(calls -> (String) exchange.invoke(null, calls)) > 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 100_000})
    void shouldEndWhatIsUnderWayToAClientWhoseEndIsInterrupted(int length) throws ReflectiveOperationException {
        var end = run.getMethod("end", int.class, int.class);
        assertTrue(assertAtEveryPlace(calls -> (String) end.invoke(null, length, calls)) > 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"exchangeWithItself", "exchangeBeforeRecovery", "endSender"})
    void shouldEndWhatIsInHandOnceWhateverHappensBeforeTheRecovery(String name) throws ReflectiveOperationException {
        var exchange = run.getMethod(name, int.class, int.class);
        assertAtEveryPlace(calls -> (String) exchange.invoke(null, 8, calls));
    }

    @ParameterizedTest
    @ValueSource(strings = {"receiveBehindFault", "creditBehindFault"})
    void shouldLoseNeitherAReceiveNorCredit(String name) throws ReflectiveOperationException {
        var exchange = run.getMethod(name, int.class, int.class);
        assertAtEveryPlace(calls -> (String) exchange.invoke(null, 4000, calls));
    }

    @ParameterizedTest
    @CsvSource({"true, 8", "false, 8", "true, 100000", "false, 100000"})
    void shouldEndWhatACounterStartsOnceWhereverTheFaultIsRaised(boolean receivesFirst, int length)
        throws ReflectiveOperationException {
        for (String scene : new String[] {"exchangeTriggered", "startBehindFault"}) {
            var exchange = run.getMethod(scene, boolean.class, int.class, int.class);
            assertTrue(assertAtEveryPlace(
                calls -> (String) exchange.invoke(null, receivesFirst, length, calls)) > 1);
        }
    }

    @Test
    void shouldCancelEachWorkOnceWhereverTheFaultIsRaised() throws ReflectiveOperationException {
        var flush = run.getMethod("flushBehindFault", int.class);
        assertTrue(assertAtEveryPlace(calls -> (String) flush.invoke(null, calls)) > 1);
    }

    /** Each kind of access over each link, long or short, or both. */
    static List<Arguments> accesses() {
        List<String> all = new ArrayList<>(List.of("false, false, write, 8", "false, true, write, 8",
            "false, false, data, 8", "false, false, vector, 1000", "false, false, read, 100000",
            "true, false, write, 100000", "true, true, write, 30000", "true, false, data, 30000",
            "true, false, vector, 30000", "true, false, read, 8"));
        if (Effort.ALL) {
            all.addAll(List.of("false, false, write, 100000", "false, false, read, 8", "false, true, read, 8",
                "true, false, write, 8", "true, false, data, 8", "true, false, read, 100000",
                "true, true, read, 30000"));
        }
        return all.stream().map(each -> Arguments.of((Object[]) each.split(", "))).toList();
    }

    @ParameterizedTest
    @MethodSource("accesses")
    void shouldEndEachRemoteAccessOnceWhereverTheFaultIsRaised(
        boolean isShm, boolean isStrict, String kind, int length) throws ReflectiveOperationException {
        String name = RemoteRigFaults.class.getName();
        String rig = RemoteRig.class.getName();
        Class<?> faults = new LateFaultLoader(EngineLateFaultTest.class.getClassLoader(), rig).loadClass(name);
        for (String scene : new String[] {
            "access", "placement", "accessBeforeRecovery", "accessBesideFault"}) {
            var access = faults.getMethod(scene, boolean.class, boolean.class, String.class, int.class, int.class);
            assertAtEveryPlace(calls -> (String) access.invoke(null, isShm, isStrict, kind, length, calls));
        }
    }

    private interface Trial {
        /** What was wrong, empty for nothing. */
        String run(int calls) throws ReflectiveOperationException;
    }

    /** The number of places at which it was raised; one if that was nowhere but at the first fault point. */
    private static int assertAtEveryPlace(Trial trial) throws ReflectiveOperationException {
        List<String> wrong = new ArrayList<>();
        int calls = 0;
        do {
            String seen = trial.run(calls);
            if (!seen.isEmpty()) {
                wrong.add(seen);
            }
            assertTrue(++calls < MOST_PLACES, LateFault::place);
        } while (LateFault.hasFurtherPlaces());
        assertEquals(List.of(), wrong);
        return calls;
    }
}
