package org.jfabric.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongToIntFunction;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.ControlMessage.Answer;
import org.jfabric.codec.control.OpenCompletionQueueDecoder;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.WaitCondition;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DriverProxyTest {
    private static final int RING_LENGTH = 4096;

    private final MemorySegment file = Arena.ofAuto().allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, 4096);
    private final long records = file.address() + RecordRingDescriptor.HEADER_LENGTH;
    private final long position = file.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET;
    private final UnsafeBuffer ring = new UnsafeBuffer(records, RING_LENGTH);
    private final DriverProxy proxy = new DriverProxy(
        new RecordProducer(records, RING_LENGTH, position), ring, null, new Answering());
    private final RecordConsumer consumer = new RecordConsumer(records, RING_LENGTH, position, 255);
    private RuntimeException changeFailure;

    @Test
    @Requirement("CQ-007")
    void shouldCarryEveryAttributeOfACompletionQueueToTheDriver() {
        proxy.openCompletionQueue(new CompletionQueueAttr().size(2).flags(Flags.AFFINITY)
            .format(CompletionFormat.DATA).waitObject(WaitObject.SET).signalingVector(5)
            .waitCondition(WaitCondition.THRESHOLD).waitSetId(7));
        assertEquals(RecordConsumer.RECORD, consumer.poll());
        assertEquals(OpenCompletionQueueDecoder.TEMPLATE_ID, consumer.type());
        OpenCompletionQueueDecoder command = new OpenCompletionQueueDecoder().wrap(
            ring, consumer.offset() + 8, OpenCompletionQueueDecoder.BLOCK_LENGTH, 0);
        assertEquals(1, command.correlationId());
        assertEquals(2, command.size());
        assertEquals(Flags.AFFINITY, command.flags());
        assertEquals(CompletionFormat.DATA.code(), command.formatRaw());
        assertEquals(WaitObject.SET.code(), command.waitObjRaw());
        assertEquals(5, command.signalingVector());
        assertEquals(WaitCondition.THRESHOLD.code(), command.waitCondRaw());
        assertEquals(7, command.waitSetId());
    }

    @ParameterizedTest
    @MethodSource("failures")
    void shouldGiveUpAConnectionUnlessTheAnswerMayComeLate(RuntimeException failure, boolean isKept) {
        changeFailure = failure;
        List<String> refused = new ArrayList<>();
        assertSame(failure, assertThrows(RuntimeException.class,
            () -> proxy.connect(1, "jfabric://alpha/1", new byte[0], () -> refused.add("connect"))));
        assertSame(failure, assertThrows(RuntimeException.class,
            () -> proxy.accept(2, 3, new byte[0], () -> refused.add("accept"))));
        assertEquals(isKept ? List.of() : List.of("connect", "accept"), refused);
    }

    static Stream<Arguments> failures() {
        return Stream.of(
            Arguments.of(new UnansweredException("connecting", null), true),
            Arguments.of(new FabricException(FabricErrno.ETIMEDOUT, "the driver has refused it"), false),
            Arguments.of(new FabricException(FabricErrno.ECONNREFUSED, "the driver has refused it"), false),
            Arguments.of(new IllegalStateException("the command cannot be encoded"), false));
    }

    /** Answers each command at once, with nothing; changes fail after they were sent. */
    private final class Answering implements DriverProxy.Caller {
        @Override
        public PendingCommand call(String what, LongToIntFunction encoder, Consumer<Answer> undo) {
            assertEquals(0, encoder.applyAsInt(1));
            PendingCommand command = new PendingCommand(1, what, false, null);
            command.answer(null);
            return command;
        }

        @Override
        public PendingCommand change(
            List<Object> key, String what, LongToIntFunction encoder, boolean closes, AnswerHandler late) {
            assertEquals(0, encoder.applyAsInt(1));
            throw changeFailure;
        }

        @Override
        public void issue(String what, LongToIntFunction encoder, AnswerHandler handler) {
            throw new IllegalStateException(what);
        }
    }
}
