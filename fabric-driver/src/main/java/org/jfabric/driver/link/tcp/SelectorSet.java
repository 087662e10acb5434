package org.jfabric.driver.link.tcp;

import org.jfabric.ffi.Epoll;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * Channels in a selector. The selector's descriptor is not accessible, so that no thread can sleep on it. A selector
 * does not report a connection's end unless it watches for other events of the connection too.
 *
 * <p>Owner: progress agent.
 */
final class SelectorSet extends WatchedSet {
    private static final int WRITABLE = SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT;

    private final Selector selector;

    SelectorSet() {
        try {
            selector = Selector.open();
        } catch (IOException ex) {
            throw new UncheckedIOException("raise the limit of open files (ulimit -n)", ex);
        }
    }

    @Override
    boolean begin(Watched item, int events) {
        try {
            item.channel().register(selector, operations(item, events), item);
        } catch (ClosedChannelException closed) {
            return false;
        }
        item.slot(0);
        return true;
    }

    @Override
    void change(Watched item, int events) {
        SelectionKey key = item.channel().keyFor(selector);
        // a channel whose connect has failed has closed itself
        if (key != null && key.isValid()) {
            key.interestOps(operations(item, events));
        }
    }

    @Override
    void end(Watched item) {
        SelectionKey key = item.channel().keyFor(selector);
        if (key != null) {
            key.cancel();
            // closing the channel closes its descriptor only after this
            select();
        }
    }

    @Override
    int poll() {
        select();
        SelectionKey[] ready = selector.selectedKeys().toArray(SelectionKey[]::new);
        selector.selectedKeys().clear();
        int handled = 0;
        for (SelectionKey key : ready) {
            // the handler of an earlier key may have removed this one
            if (key.isValid()) {
                ((Watched) key.attachment()).onEvents(events(key.readyOps()));
                handled++;
            }
        }
        return handled;
    }

    @Override
    boolean arm() {
        return false;
    }

    /** A selector reports only that a channel is readable, and does not distinguish the end. */
    @Override
    int eventsOfEnd() {
        return 0;
    }

    @Override
    public void close() {
        try {
            selector.close();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void select() {
        try {
            selector.selectNow();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static int operations(Watched item, int events) {
        SelectableChannel channel = item.channel();
        boolean connects = channel instanceof SocketChannel socket && socket.isConnectionPending();
        int writable = connects ? SelectionKey.OP_CONNECT : SelectionKey.OP_WRITE;
        int readable = channel.validOps() & (SelectionKey.OP_READ | SelectionKey.OP_ACCEPT);
        return ((events & (Epoll.EPOLLIN | Epoll.EPOLLRDHUP)) != 0 ? readable : 0)
            | ((events & Epoll.EPOLLOUT) != 0 ? writable : 0);
    }

    private static int events(int operations) {
        return ((operations & ~WRITABLE) != 0 ? Epoll.EPOLLIN : 0)
            | ((operations & WRITABLE) != 0 ? Epoll.EPOLLOUT : 0);
    }
}
