package org.jfabric.samples;

import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.MessageHandler;
import org.jfabric.RecvContext;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;

/** The code of docs/zero-copy-receive.md. */
final class ZeroCopyReceiveExamples {
    static final int REPORT = 1;
    static final int ADVERTISEMENT = 2;
    static final int MEMORY = 1 << 20;
    private static final int TEXT = 8;
    private static final long REPORT_CONTEXT = 77;
    private static final long NO_CONTEXT = 0;

    final List<String> seen = new ArrayList<>();
    final Endpoint endpoint;
    final CompletionQueue completions;
    final MemoryRegion memory;
    final long self;
    private RecvContext kept;

    ZeroCopyReceiveExamples(Fabric fabric) {
        // example: mode
        Info info = fabric.info(new Info().caps(Flags.MSG | Flags.TAGGED).mode(Mode.BUFFERED_RECV)).best();
        Domain domain = fabric.domain(info);
        memory = domain.allocate(MEMORY);
        completions = domain.openCompletionQueue(
            new CompletionQueueAttr().size(256).format(CompletionFormat.TAGGED));
        AddressVector peers = domain.openAddressVector(new AddressVectorAttr());
        endpoint = domain.openEndpoint(info);
        endpoint.bind(completions, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(peers);
        endpoint.setopt(EndpointOption.BUFFERED_LIMIT, 1024);
        endpoint.enable();
        // end
        self = peers.insert(endpoint.name());
    }

    // example: buffered
    private final CompletionHandler entries = this::onEntry;

    int receive() {
        return completions.poll(entries, 16);
    }

    private void onEntry(Completion entry) {
        RecvContext message = completions.recvContext(entry);
        if (message == null) {
            onEnd(entry);
        } else if (message.isWhole()) {
            // the driver takes it back at the next poll
            onOrder(message.buffer());
        } else if (message.buffer().getInt(0) == REPORT) {
            message.context(REPORT_CONTEXT);
            require(endpoint.messages().recvmsg(
                memory.address(), MEMORY, FabricAddress.ADDR_UNSPEC, message.id(), Flags.CLAIM));
        } else {
            require(endpoint.messages().recvmsg(0, 0, FabricAddress.ADDR_UNSPEC, message.id(), Flags.DISCARD));
        }
    }

    /** Of a send, of a report that is in the memory now, or of a message that was dropped. */
    private void onEnd(Completion entry) {
        if ((entry.flags() & Flags.CLAIM) != 0 && entry.opContext() == REPORT_CONTEXT) {
            onReport(memory.buffer(), entry.len());
        }
    }
    // end

    // example: lent
    private final MessageHandler messages = this::onMessage;
    private final CompletionHandler ends = this::onEnd;

    int receiveInPlace() {
        return completions.pollMessages(messages, ends, 16);
    }

    private void onMessage(RecvContext message) {
        if (message.isWhole()) {
            // until this method returns
            onOrder(message.buffer());
        } else {
            require(endpoint.messages().recvmsg(0, 0, FabricAddress.ADDR_UNSPEC, message.id(), Flags.DISCARD));
        }
    }
    // end

    private void onOrder(DirectBuffer order) {
        seen.add("order " + order.getStringAscii(TEXT));
    }

    private void onReport(DirectBuffer report, long length) {
        seen.add("report of " + length + ": " + report.getStringAscii(TEXT));
    }

    int keep() {
        // example: keep
        int result = completions.poll(entry -> {
            RecvContext message = completions.recvContext(entry);
            if (message != null && message.isWhole()) {
                message.retain();
                kept = message;
            }
        }, 1);
        // end
        return result;
    }

    String useKept() {
        // example: give-back
        String text = kept.buffer().getStringAscii(TEXT);
        int result = kept.release();
        // end
        require(result);
        return text;
    }

    int expect(long tag) {
        // example: tag
        return endpoint.trecv(0, 0, FabricAddress.ADDR_UNSPEC, tag, 0, NO_CONTEXT);
        // end
    }

    private static void require(int result) {
        if (result != 0) {
            throw new IllegalStateException(FabricErrno.name(-result));
        }
    }
}
