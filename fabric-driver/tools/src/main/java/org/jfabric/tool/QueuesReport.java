package org.jfabric.tool;

import java.util.List;
import java.util.Locale;

import org.jfabric.client.QueueSnapshot;
import org.jfabric.layout.ViewDescriptor;

/** The output of {@code fabric queues}, for people and for programs. */
final class QueuesReport {
    private static final double NS_PER_MS = 1e6;
    private static final double NS_PER_S = 1e9;

    private QueuesReport() {
    }

    static String toText(CncView view, List<QueueSnapshot> endpoints, List<GroupView> groups, long nowNs) {
        StringBuilder text = new StringBuilder();
        text.append("driver ").append(view.directory()).append(", process ").append(view.pid()).append(": ")
            .append(number(endpoints.size(), "endpoint")).append('\n');
        for (QueueSnapshot endpoint : endpoints) {
            text.append("endpoint ").append(endpoint.endpointId()).append(' ').append(endpoint.address())
                .append(" of client ").append(endpoint.clientId()).append(", seen ")
                .append(age(nowNs, endpoint.endNs())).append(" ago\n");
            posted(text, endpoint, nowNs);
            unexpected(text, endpoint, nowNs);
            accesses(text, endpoint, nowNs);
            peers(text, endpoint, nowNs);
        }
        groups.forEach(group -> group(text, group));
        return text.toString();
    }

    private static void group(StringBuilder text, GroupView group) {
        text.append("group ").append(group.address());
        if (group.writer() == null) {
            text.append(": its writer's driver is not beside this one\n");
        } else {
            text.append(" of ").append(group.writer()).append(", log ").append(group.log()).append(" term ")
                .append(group.term()).append("\n  next position ").append(grouped(group.value("position")))
                .append(", oldest in the ring ").append(grouped(group.value("oldest_position"))).append("; ")
                .append(number(group.value("readers"), "reader")).append(", has waited for readers ")
                .append(number(group.value("reader_waits"), "time")).append('\n');
        }
        if (group.recording() != null) {
            GroupView.Recording log = group.recording();
            text.append("    recorded in ").append(log.folder()).append(": written to ").append(log.written())
                .append(", ").append(log.text()).append(", ").append(number(log.lag(), "message")).append(" behind");
            moved(text, log.stillMs()).append(log.dropped() == 0 ? "\n"
                : ", " + number(log.dropped(), "message") + " left out\n");
        }
        if (group.stream() != null) {
            text.append("    from the other host: ").append(group.stream()).append('\n');
        }
        for (GroupView.Host host : group.hosts()) {
            text.append("    host ").append(host.address()).append(", driver ").append(host.driver())
                .append(": position ").append(grouped(host.position())).append(", ")
                .append(number(host.lag(), "message")).append(" behind, ").append(host.text())
                .append(host.address().equals(group.heldBackBy()) ? ", holds the writer back\n" : "\n");
        }
        for (GroupView.Reader reader : group.readers()) {
            text.append("    ").append(reader.address()).append(": position ").append(grouped(reader.position()));
            if (reader.lag() >= 0) {
                text.append(", ").append(number(reader.lag(), "message")).append(" behind");
            }
            moved(text, reader.stillMs()).append(reader.lost() == 0 ? "" : ", has lost " + grouped(reader.lost()))
                .append(reader.address().equals(group.heldBackBy()) ? ", holds the writer back\n" : "\n");
        }
        if (group.unseenReaders() > 0) {
            text.append("    ").append(grouped(group.unseenReaders())).append(" more\n");
        }
    }

    private static StringBuilder moved(StringBuilder text, long stillMs) {
        return stillMs == 0 ? text
            : text.append(", has not moved for ").append(age((long) (stillMs * NS_PER_MS), 0));
    }

    private static void posted(StringBuilder text, QueueSnapshot endpoint, long nowNs) {
        text.append("  posted: ").append(number(endpoint.postedCount(), "receive")).append(" of ")
            .append(grouped(endpoint.rxSize())).append(", ").append(endpoint.underWayCount())
            .append(" more with the payload under way\n");
        for (QueueSnapshot.PostedRow row : endpoint.posted()) {
            text.append("    ").append(row.tagged() ? "tag " + hex(row.tag()) : "untagged");
            if (row.ignore() != 0) {
                text.append(" ignore ").append(hex(row.ignore()));
            }
            text.append(" from ").append(row.source() < 0 ? "any" : peerName(endpoint, row.source(), null))
                .append(": ").append(posted(row, nowNs)).append('\n');
        }
        if (endpoint.postedRest() != null) {
            text.append("    others: ").append(posted(endpoint.postedRest(), nowNs)).append('\n');
        }
    }

    private static String posted(QueueSnapshot.PostedRow row, long nowNs) {
        return number(row.count(), "receive") + ", " + grouped(row.bytes()) + " bytes, oldest "
            + age(nowNs, row.sinceNs());
    }

    private static void unexpected(StringBuilder text, QueueSnapshot endpoint, long nowNs) {
        text.append("  unexpected: ").append(number(endpoint.storedCount(), "message")).append(" stored, ")
            .append(grouped(endpoint.storedBytes())).append(" bytes of a budget of ")
            .append(grouped(endpoint.budgetBytes())).append("; ").append(grouped(endpoint.announcedCount()))
            .append(" announced\n");
        for (QueueSnapshot.UnexpectedRow row : endpoint.unexpected()) {
            text.append("    ").append(row.tagged() ? "tag " + hex(row.tag()) : "untagged").append(" from ")
                .append(peerName(endpoint, row.fiAddr(), row.sender())).append(": ")
                .append(unexpected(row, nowNs)).append('\n');
        }
        if (endpoint.unexpectedRest() != null) {
            text.append("    others: ").append(unexpected(endpoint.unexpectedRest(), nowNs)).append('\n');
        }
    }

    private static String unexpected(QueueSnapshot.UnexpectedRow row, long nowNs) {
        return grouped(row.stored()) + " stored, " + grouped(row.storedBytes()) + " bytes; "
            + grouped(row.announced()) + " announced, " + grouped(row.announcedBytes()) + " bytes; oldest "
            + age(nowNs, row.sinceNs());
    }

    private static void accesses(StringBuilder text, QueueSnapshot endpoint, long nowNs) {
        if (endpoint.accessesCount() == 0) {
            return;
        }
        text.append("  remote accesses outstanding: ").append(grouped(endpoint.accessesCount())).append('\n');
        for (QueueSnapshot.AccessRow row : endpoint.accesses()) {
            text.append("    ").append(number(row.count(), kind(row))).append(" of key ").append(hex(row.key()))
                .append(" of ").append(peerName(endpoint, row.fiAddr(), row.peer())).append(": ")
                .append(access(row, nowNs)).append('\n');
        }
        if (endpoint.accessesRest() != null) {
            text.append("    others: ").append(grouped(endpoint.accessesRest().count())).append(", ")
                .append(access(endpoint.accessesRest(), nowNs)).append('\n');
        }
    }

    private static String access(QueueSnapshot.AccessRow row, long nowNs) {
        return grouped(row.bytes()) + " bytes, " + (row.waiting() == 0 ? "" : grouped(row.waiting()) + " not begun, ")
            + "oldest " + age(nowNs, row.sinceNs());
    }

    private static String kind(QueueSnapshot.AccessRow row) {
        return switch (row.kind()) {
            case ViewDescriptor.ACCESS_READ -> "read";
            case ViewDescriptor.ACCESS_WRITE -> "write";
            case ViewDescriptor.ACCESS_ATOMIC -> "atomic operation";
            default -> "any";
        };
    }

    private static void peers(StringBuilder text, QueueSnapshot endpoint, long nowNs) {
        text.append("  peers: ").append(grouped(endpoint.peersCount())).append("; sends outstanding: ")
            .append(grouped(endpoint.sendsCount())).append(" of ").append(grouped(endpoint.txSize())).append('\n');
        for (QueueSnapshot.PeerRow peer : endpoint.peers()) {
            text.append("    ").append(peerName(endpoint, peer.fiAddr(), peer.address())).append(": ")
                .append(state(peer)).append(", ").append(grouped(peer.creditBytes())).append(" bytes of credit left\n");
            if (peer.stored() + peer.announced() != 0) {
                text.append("      it waits for our receives: ").append(grouped(peer.stored())).append(" stored, ")
                    .append(grouped(peer.heldBytes())).append(" bytes of the budget; ")
                    .append(grouped(peer.announced())).append(" announced; for ")
                    .append(age(nowNs, peer.unexpectedSinceNs())).append('\n');
            }
            if (peer.waiting() != 0) {
                text.append("      we wait for it: ").append(number(peer.waiting(), "send"))
                    .append(peer.holdsBack() ? " held back" : " not begun");
                if (peer.waitingSinceNs() != 0) {
                    text.append(" for ").append(age(nowNs, peer.waitingSinceNs()));
                }
                text.append(peer.isShareUsed() ? "; it has its share of our sends, more are refused\n" : "\n");
            }
            if (peer.untaken() != 0) {
                text.append("      we wait for its receives: ").append(number(peer.untaken(), "announced message"));
                if (peer.untakenSinceNs() != 0) {
                    text.append(" for ").append(age(nowNs, peer.untakenSinceNs()));
                }
                text.append('\n');
            }
            if (peer.directed() != 0) {
                text.append("      we wait for its messages: ").append(number(peer.directed(), "directed receive"))
                    .append(" for ").append(age(nowNs, peer.directedSinceNs())).append('\n');
            }
        }
        long more = endpoint.peersCount() - endpoint.peers().size();
        if (more > 0) {
            text.append("    ").append(grouped(more)).append(" more\n");
        }
    }

    private static String peerName(QueueSnapshot endpoint, long fiAddr, String address) {
        String name = address;
        for (QueueSnapshot.PeerRow peer : endpoint.peers()) {
            if (name == null && fiAddr >= 0 && peer.fiAddr() == fiAddr) {
                name = peer.address();
            }
        }
        String number = fiAddr < 0 ? "not in the address vector" : "fi_addr " + fiAddr;
        return name == null ? number : name + " (" + number + ')';
    }

    private static String state(QueueSnapshot.PeerRow peer) {
        return switch (peer.state()) {
            case ViewDescriptor.PEER_UP -> "up";
            case ViewDescriptor.PEER_CONNECTING -> "connecting";
            default -> "down";
        };
    }

    static String toJson(CncView view, List<QueueSnapshot> endpoints, List<GroupView> groups, long nowNs) {
        JsonWriter writer = new JsonWriter().beginObject()
            .member("directory", view.directory().toString())
            .member("pid", view.pid())
            .member("timeMs", System.currentTimeMillis())
            .name("endpoints").beginArray();
        for (QueueSnapshot endpoint : endpoints) {
            writer.beginObject()
                .member("id", endpoint.endpointId())
                .member("address", endpoint.address())
                .member("client", endpoint.clientId())
                .member("seenNs", nowNs - endpoint.endNs())
                .member("lookNs", endpoint.endNs() - endpoint.beginNs())
                .member("lookCycles", endpoint.cycles())
                .member("txSize", endpoint.txSize())
                .member("rxSize", endpoint.rxSize())
                .member("posted", endpoint.postedCount())
                .member("underWay", endpoint.underWayCount())
                .member("stored", endpoint.storedCount())
                .member("storedBytes", endpoint.storedBytes())
                .member("announced", endpoint.announcedCount())
                .member("budgetBytes", endpoint.budgetBytes())
                .member("unreservedBytes", endpoint.unreservedBytes())
                .member("sends", endpoint.sendsCount())
                .member("remoteAccesses", endpoint.accessesCount())
                .member("peerCount", endpoint.peersCount());
            writer.name("postedByTag").beginArray();
            endpoint.posted().forEach(row -> posted(writer, row, nowNs));
            writer.endArray();
            if (endpoint.postedRest() != null) {
                posted(writer.name("postedOthers"), endpoint.postedRest(), nowNs);
            }
            writer.name("unexpectedByTag").beginArray();
            endpoint.unexpected().forEach(row -> unexpected(writer, row, nowNs));
            writer.endArray();
            if (endpoint.unexpectedRest() != null) {
                unexpected(writer.name("unexpectedOthers"), endpoint.unexpectedRest(), nowNs);
            }
            writer.name("accessesByKey").beginArray();
            endpoint.accesses().forEach(row -> access(writer, row, nowNs));
            writer.endArray();
            if (endpoint.accessesRest() != null) {
                access(writer.name("accessesOthers"), endpoint.accessesRest(), nowNs);
            }
            writer.name("peers").beginArray();
            endpoint.peers().forEach(peer -> peer(writer, peer, nowNs));
            writer.endArray().endObject();
        }
        writer.endArray().name("groups").beginArray();
        groups.forEach(group -> group.write(writer));
        return writer.endArray().endObject().toString();
    }

    private static void posted(JsonWriter writer, QueueSnapshot.PostedRow row, long nowNs) {
        writer.beginObject()
            .member("tagged", row.tagged())
            .member("tag", hex(row.tag()))
            .member("ignore", hex(row.ignore()))
            .member("source", row.source())
            .member("count", row.count())
            .member("bytes", row.bytes())
            .member("oldestNs", nowNs - row.sinceNs())
            .endObject();
    }

    private static void unexpected(JsonWriter writer, QueueSnapshot.UnexpectedRow row, long nowNs) {
        writer.beginObject()
            .member("tagged", row.tagged())
            .member("tag", hex(row.tag()))
            .member("fiAddr", row.fiAddr())
            .member("sender", row.sender())
            .member("stored", row.stored())
            .member("storedBytes", row.storedBytes())
            .member("announced", row.announced())
            .member("announcedBytes", row.announcedBytes())
            .member("oldestNs", nowNs - row.sinceNs())
            .endObject();
    }

    private static void access(JsonWriter writer, QueueSnapshot.AccessRow row, long nowNs) {
        writer.beginObject()
            .member("kind", kind(row))
            .member("key", hex(row.key()))
            .member("fiAddr", row.fiAddr())
            .member("peer", row.peer())
            .member("count", row.count())
            .member("waiting", row.waiting())
            .member("bytes", row.bytes())
            .member("oldestNs", nowNs - row.sinceNs())
            .endObject();
    }

    private static void peer(JsonWriter writer, QueueSnapshot.PeerRow peer, long nowNs) {
        writer.beginObject()
            .member("fiAddr", peer.fiAddr())
            .member("address", peer.address())
            .member("state", state(peer))
            .member("creditBytes", peer.creditBytes())
            .member("holdsBack", peer.holdsBack())
            .member("isShareUsed", peer.isShareUsed())
            .member("stored", peer.stored())
            .member("announced", peer.announced())
            .member("heldBytes", peer.heldBytes());
        since(writer, "unexpectedNs", peer.stored() + peer.announced(), nowNs, peer.unexpectedSinceNs());
        writer.member("waitingSends", peer.waiting());
        since(writer, "waitingNs", peer.waiting(), nowNs, peer.waitingSinceNs());
        writer.member("untakenSends", peer.untaken());
        since(writer, "untakenNs", peer.untaken(), nowNs, peer.untakenSinceNs());
        writer.member("directedReceives", peer.directed());
        since(writer, "directedNs", peer.directed(), nowNs, peer.directedSinceNs());
        writer.endObject();
    }

    private static void since(JsonWriter writer, String name, long count, long nowNs, long sinceNs) {
        if (count != 0 && sinceNs != 0) {
            writer.member(name, nowNs - sinceNs);
        } else {
            writer.name(name).value((String) null);
        }
    }

    private static String number(long count, String what) {
        return grouped(count) + ' ' + what + (count == 1 ? "" : "s");
    }

    private static String grouped(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    private static String hex(long value) {
        return "0x" + Long.toHexString(value);
    }

    private static String age(long nowNs, long sinceNs) {
        double ns = Math.max(0, nowNs - sinceNs);
        return ns < NS_PER_S ? String.format(Locale.ROOT, "%.1f ms", ns / NS_PER_MS)
            : String.format(Locale.ROOT, "%,.1f s", ns / NS_PER_S);
    }
}
