package org.jfabric.driver.conformance.other;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ObjLongConsumer;
import java.util.function.ToLongFunction;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.DomainAttr;
import org.jfabric.info.EndpointAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.MrMode;
import org.jfabric.info.Order;
import org.jfabric.info.Progress;
import org.jfabric.info.Protocol;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.RxAttr;
import org.jfabric.info.Threading;
import org.jfabric.info.TrafficClass;
import org.jfabric.info.TxAttr;

/** What discovery does with a hint in each member of each attribute structure. */
final class HintTable {
    private static final long ONE_BEYOND = 1;

    private final List<Row> rows = new ArrayList<>();

    private HintTable() {
    }

    /**
     * One member. Functions get the hints to be written to, and what a link offers without hints.
     *
     * @param structure holds the member.
     * @param member    name of its field.
     * @param condition as verdicts name it; null if no value is refused.
     * @param asked     the value of the member, as verdicts show it.
     * @param met       hints that the link meets.
     * @param beyond    hints that it cannot meet; returns whether there are any.
     * @param holds     whether a match meets the hints.
     */
    record Row(
        Class<?> structure,
        String member,
        String condition,
        Function<Info, Object> asked,
        List<BiConsumer<Info, Info>> met,
        List<BiConsumer<Info, Info>> beyond,
        Holds holds) {

        @Override
        public String toString() {
            return structure.getSimpleName() + '.' + member;
        }
    }

    /** Whether a match meets the hints. */
    interface Holds {
        boolean in(Info match, Info hints);
    }

    /** One row for each member. */
    static List<Row> rows() {
        HintTable table = new HintTable();
        table.info();
        table.transmit();
        table.receive();
        table.endpoint();
        table.domain();
        table.domainLimits();
        table.fabric();
        return table.rows;
    }

    private void info() {
        bits(Info.class, "caps", "caps", Info::caps, Info::caps, Flags.COLLECTIVE);
        free(Info.class, "mode", "what the application is able to do; unused bits are cleared",
            hints -> hints.mode(-1L & ~Mode.BUFFERED_RECV), (match, hints) -> (match.mode() & ~hints.mode()) == 0);
        equal(Info.class, "addrFormat", "addr_format", Info::addrFormat, Info::addrFormat, AddressFormat.SOCKADDR_IB);
        address("srcAddr", "source", Info::srcAddr, Info::srcAddr);
        address("destAddr", "destination", Info::destAddr, Info::destAddr);
        add(Info.class, "linkName", "link name", Info::linkName,
            List.of((hints, offer) -> hints.linkName(offer.fabricAttr().provName())),
            List.of((hints, offer) -> hints.linkName("carrier pigeon")),
            (match, hints) -> hints.linkName().equals(match.linkName()));
        free(Info.class, "handle", "an object for the opening of an endpoint, which stays with the client",
            hints -> { }, (match, hints) -> match.handle() == null);
        for (String structure : List.of("txAttr", "rxAttr", "epAttr", "domainAttr", "fabricAttr")) {
            free(Info.class, structure, "a structure with rows of its own", hints -> { }, (match, hints) -> true);
        }
    }

    private void transmit() {
        Class<?> here = TxAttr.class;
        bits(here, "caps", "tx_attr.caps", info -> info.txAttr().caps(), (info, value) -> info.txAttr().caps(value),
            Flags.COLLECTIVE);
        add(here, "mode", "tx_attr.mode", info -> Mode.toString(info.txAttr().mode()),
            List.of((hints, offer) -> hints.mode(Mode.CONTEXT).txAttr().mode(Mode.CONTEXT)),
            List.of((hints, offer) -> hints.txAttr().mode(Mode.CONTEXT)),
            (match, hints) -> match.txAttr().mode() == 0);
        bits(here, "opFlags", "tx_attr.op_flags", info -> info.txAttr().opFlags(),
            (info, value) -> info.txAttr().opFlags(value), Flags.COMMIT_COMPLETE);
        bits(here, "msgOrder", "tx_attr.msg_order", info -> info.txAttr().msgOrder(),
            (info, value) -> info.txAttr().msgOrder(value), Order.DATA);
        bits(here, "compOrder", "tx_attr.comp_order", info -> info.txAttr().compOrder(),
            (info, value) -> info.txAttr().compOrder(value), Order.DATA);
        size(here, "injectSize", "tx_attr.inject_size", info -> info.txAttr().injectSize(),
            (info, value) -> info.txAttr().injectSize(value));
        size(here, "size", "tx_attr.size", info -> info.txAttr().size(), (info, value) -> info.txAttr().size(value));
        limit(here, "iovLimit", "tx_attr.iov_limit", info -> info.txAttr().iovLimit(),
            (info, value) -> info.txAttr().iovLimit(value));
        limit(here, "rmaIovLimit", "tx_attr.rma_iov_limit", info -> info.txAttr().rmaIovLimit(),
            (info, value) -> info.txAttr().rmaIovLimit(value));
        trafficClass(here, "tx_attr.tclass", info -> info.txAttr().tclass(),
            (info, value) -> info.txAttr().tclass(value));
    }

    private void receive() {
        Class<?> here = RxAttr.class;
        bits(here, "caps", "rx_attr.caps", info -> info.rxAttr().caps(), (info, value) -> info.rxAttr().caps(value),
            Flags.COLLECTIVE);
        add(here, "mode", "rx_attr.mode", info -> Mode.toString(info.rxAttr().mode()),
            List.of((hints, offer) -> hints.mode(Mode.CONTEXT).rxAttr().mode(Mode.CONTEXT)),
            List.of((hints, offer) -> hints.rxAttr().mode(Mode.CONTEXT)),
            (match, hints) -> match.rxAttr().mode() == 0);
        bits(here, "opFlags", "rx_attr.op_flags", info -> info.rxAttr().opFlags(),
            (info, value) -> info.rxAttr().opFlags(value | Flags.COMPLETION), Flags.INJECT);
        bits(here, "msgOrder", "rx_attr.msg_order", info -> info.rxAttr().msgOrder(),
            (info, value) -> info.rxAttr().msgOrder(value), Order.DATA);
        bits(here, "compOrder", "rx_attr.comp_order", info -> info.rxAttr().compOrder(),
            (info, value) -> info.rxAttr().compOrder(value), Order.DATA);
        free(here, "totalBufferedRecv", "a hint of older applications that a provider may ignore (fi_endpoint(3))",
            hints -> hints.rxAttr().totalBufferedRecv(Long.MAX_VALUE), (match, hints) -> true);
        size(here, "size", "rx_attr.size", info -> info.rxAttr().size(), (info, value) -> info.rxAttr().size(value));
        limit(here, "iovLimit", "rx_attr.iov_limit", info -> info.rxAttr().iovLimit(),
            (info, value) -> info.rxAttr().iovLimit(value));
    }

    private void endpoint() {
        Class<?> here = EndpointAttr.class;
        equal(here, "type", "ep_attr.type", info -> info.epAttr().type(), (info, value) -> info.epAttr().type(value),
            EndpointType.SOCK_STREAM);
        equal(here, "protocol", "ep_attr.protocol", info -> info.epAttr().protocol(),
            (info, value) -> info.epAttr().protocol(value), Protocol.COLL);
        limit(here, "protocolVersion", "ep_attr.protocol_version",
            info -> Integer.toUnsignedLong(info.epAttr().protocolVersion()),
            (info, value) -> info.epAttr().protocolVersion((int) value));
        limit(here, "maxMsgSize", "ep_attr.max_msg_size", info -> info.epAttr().maxMsgSize(),
            (info, value) -> info.epAttr().maxMsgSize(value));
        limit(here, "msgPrefixSize", "ep_attr.msg_prefix_size", info -> info.epAttr().msgPrefixSize(),
            (info, value) -> info.epAttr().msgPrefixSize(value));
        limit(here, "maxOrderRawSize", "ep_attr.max_order_raw_size", info -> info.epAttr().maxOrderRawSize(),
            (info, value) -> info.epAttr().maxOrderRawSize(value));
        limit(here, "maxOrderWarSize", "ep_attr.max_order_war_size", info -> info.epAttr().maxOrderWarSize(),
            (info, value) -> info.epAttr().maxOrderWarSize(value));
        limit(here, "maxOrderWawSize", "ep_attr.max_order_waw_size", info -> info.epAttr().maxOrderWawSize(),
            (info, value) -> info.epAttr().maxOrderWawSize(value));
        // a link with tags takes every format, one without takes none
        add(here, "memTagFormat", "ep_attr.mem_tag_format", info -> "0x30ff",
            List.of((hints, offer) -> hints.epAttr().memTagFormat(offer.epAttr().memTagFormat() == 0 ? 0 : 0x30FF)),
            List.of((hints, offer) -> hints.epAttr().memTagFormat(offer.epAttr().memTagFormat() == 0 ? 0x30FF : 0)),
            (match, hints) -> hints.epAttr().memTagFormat() == 0
                || match.epAttr().memTagFormat() == hints.epAttr().memTagFormat());
        contexts("txCtxCnt", "ep_attr.tx_ctx_cnt", EndpointAttr::txCtxCnt, EndpointAttr::txCtxCnt,
            DomainAttr::maxEpTxCtx);
        contexts("rxCtxCnt", "ep_attr.rx_ctx_cnt", EndpointAttr::rxCtxCnt, EndpointAttr::rxCtxCnt,
            DomainAttr::maxEpRxCtx);
        add(here, "authKey", "ep_attr.auth_key_size", info -> info.epAttr().authKeySize(), List.of(),
            List.of((hints, offer) -> hints.epAttr().authKey(new byte[129])), (match, hints) -> true);
    }

    private void domain() {
        Class<?> here = DomainAttr.class;
        equal(here, "name", "domain_attr.name", info -> info.domainAttr().name(),
            (info, value) -> info.domainAttr().name(value), "elsewhere");
        choice(here, "threading", info -> info.domainAttr().threading(),
            (info, value) -> info.domainAttr().threading(value), Threading.values());
        progress(here, "controlProgress", "domain_attr.control_progress", info -> info.domainAttr().controlProgress(),
            (info, value) -> info.domainAttr().controlProgress(value));
        progress(here, "dataProgress", "domain_attr.data_progress", info -> info.domainAttr().dataProgress(),
            (info, value) -> info.domainAttr().dataProgress(value));
        choice(here, "resourceManagement", info -> info.domainAttr().resourceManagement(),
            (info, value) -> info.domainAttr().resourceManagement(value), ResourceManagement.values());
        choice(here, "avType", info -> info.domainAttr().avType(),
            (info, value) -> info.domainAttr().avType(value), AddressVectorType.values());
        add(here, "mrMode", "domain_attr.mr_mode", info -> MrMode.toString(info.domainAttr().mrMode()),
            List.of((hints, offer) -> hints.domainAttr().mrMode(MrMode.LOCAL),
                (hints, offer) -> hints.domainAttr().mrMode(-1L),
                (hints, offer) -> hints.mode(Mode.LOCAL_MR).domainAttr().mrMode(MrMode.ALLOCATED)),
            List.of((hints, offer) -> hints.domainAttr().mrMode(MrMode.ALLOCATED),
                (hints, offer) -> hints.domainAttr().mrMode(-1L & ~MrMode.LOCAL)),
            (match, hints) -> match.domainAttr().mrMode() == MrMode.LOCAL);
        bits(here, "caps", "domain_attr.caps", info -> info.domainAttr().caps(),
            (info, value) -> info.domainAttr().caps(value), Flags.SHARED_AV);
        free(here, "mode", "what the application is able to do; unused bits are cleared",
            hints -> hints.domainAttr().mode(Mode.RESTRICTED_COMP), (match, hints) -> match.domainAttr().mode() == 0);
        add(here, "authKey", "domain_attr.auth_key_size", info -> info.domainAttr().authKeySize(), List.of(),
            List.of((hints, offer) -> hints.domainAttr().authKey(new byte[129])), (match, hints) -> true);
        add(here, "avAuthKey", "domain_attr.auth_key_size", info -> "FI_AV_AUTH_KEY", List.of(),
            List.of((hints, offer) -> hints.domainAttr().avAuthKey(true)), (match, hints) -> true);
        trafficClass(here, "domain_attr.tclass", info -> info.domainAttr().tclass(),
            (info, value) -> info.domainAttr().tclass(value));
    }

    private void domainLimits() {
        domainLimit("mrKeySize", "mr_key_size", DomainAttr::mrKeySize, DomainAttr::mrKeySize);
        domainLimit("cqDataSize", "cq_data_size", DomainAttr::cqDataSize, DomainAttr::cqDataSize);
        domainLimit("cqCnt", "cq_cnt", DomainAttr::cqCnt, DomainAttr::cqCnt);
        domainLimit("epCnt", "ep_cnt", DomainAttr::epCnt, DomainAttr::epCnt);
        domainLimit("txCtxCnt", "tx_ctx_cnt", DomainAttr::txCtxCnt, DomainAttr::txCtxCnt);
        domainLimit("rxCtxCnt", "rx_ctx_cnt", DomainAttr::rxCtxCnt, DomainAttr::rxCtxCnt);
        domainLimit("maxEpTxCtx", "max_ep_tx_ctx", DomainAttr::maxEpTxCtx, DomainAttr::maxEpTxCtx);
        domainLimit("maxEpRxCtx", "max_ep_rx_ctx", DomainAttr::maxEpRxCtx, DomainAttr::maxEpRxCtx);
        domainLimit("maxEpStxCtx", "max_ep_stx_ctx", DomainAttr::maxEpStxCtx, DomainAttr::maxEpStxCtx);
        domainLimit("maxEpSrxCtx", "max_ep_srx_ctx", DomainAttr::maxEpSrxCtx, DomainAttr::maxEpSrxCtx);
        domainLimit("cntrCnt", "cntr_cnt", DomainAttr::cntrCnt, DomainAttr::cntrCnt);
        domainLimit("mrIovLimit", "mr_iov_limit", DomainAttr::mrIovLimit, DomainAttr::mrIovLimit);
        domainLimit("maxErrDataSize", "max_err_data", DomainAttr::maxErrDataSize, DomainAttr::maxErrDataSize);
        domainLimit("mrCnt", "mr_cnt", DomainAttr::mrCnt, DomainAttr::mrCnt);
    }

    private void fabric() {
        Class<?> here = FabricAttr.class;
        equal(here, "name", "fabric_attr.name", info -> info.fabricAttr().name(),
            (info, value) -> info.fabricAttr().name(value), "elsewhere");
        equal(here, "provName", "fabric_attr.prov_name", info -> info.fabricAttr().provName(),
            (info, value) -> info.fabricAttr().provName(value), "carrier pigeon");
        limit(here, "provVersion", "fabric_attr.prov_version",
            info -> Integer.toUnsignedLong(info.fabricAttr().provVersion()),
            (info, value) -> info.fabricAttr().provVersion((int) value));
        free(here, "apiVersion", "that of the call replaces it; a newer one is refused by every call",
            hints -> hints.fabricAttr().apiVersion(FabricAttr.API_VERSION), (match, hints) -> true);
    }

    private void add(
        Class<?> structure, String member, String condition, Function<Info, Object> asked,
        List<BiConsumer<Info, Info>> met, List<BiConsumer<Info, Info>> beyond, Holds holds) {
        rows.add(new Row(structure, member, condition, asked, met, beyond, holds));
    }

    /** At most what is offered; numbers are unsigned. */
    private void limit(
        Class<?> structure, String member, String condition, ToLongFunction<Info> get, ObjLongConsumer<Info> set) {
        add(structure, member, condition, info -> Long.toUnsignedString(get.applyAsLong(info)),
            List.of((hints, offer) -> set.accept(hints, get.applyAsLong(offer)),
                (hints, offer) -> set.accept(hints, Math.min(1, get.applyAsLong(offer)))),
            // nothing is beyond a limit that is none
            List.of((hints, offer) -> set.accept(
                    hints, get.applyAsLong(offer) == -1L ? 0 : get.applyAsLong(offer) + ONE_BEYOND),
                (hints, offer) -> set.accept(hints, get.applyAsLong(offer) == -1L ? 0 : -1L)),
            (match, hints) -> Long.compareUnsigned(get.applyAsLong(match), get.applyAsLong(hints)) >= 0);
    }

    /** As much as is asked for, also more than is offered to those who ask for nothing. */
    private void size(
        Class<?> structure, String member, String condition, ToLongFunction<Info> get, ObjLongConsumer<Info> set) {
        add(structure, member, condition, info -> Long.toUnsignedString(get.applyAsLong(info)),
            List.of((hints, offer) -> set.accept(hints, get.applyAsLong(offer)),
                (hints, offer) -> set.accept(hints, 1),
                (hints, offer) -> set.accept(hints, 4 * get.applyAsLong(offer) + ONE_BEYOND)),
            List.of((hints, offer) -> set.accept(hints, (1 << 20) + ONE_BEYOND),
                (hints, offer) -> set.accept(hints, -1L)),
            (match, hints) -> get.applyAsLong(match) >= get.applyAsLong(hints));
    }

    /** As many as are asked for, at most what the domain has for one endpoint, or a shared one. */
    private void contexts(
        String member, String condition, ToLongFunction<EndpointAttr> get, ObjLongConsumer<EndpointAttr> set,
        ToLongFunction<DomainAttr> most) {
        add(EndpointAttr.class, member, condition, info -> Long.toUnsignedString(get.applyAsLong(info.epAttr())),
            List.of((hints, offer) -> set.accept(hints.epAttr(), most.applyAsLong(offer.domainAttr())),
                (hints, offer) -> set.accept(hints.epAttr(), 1),
                (hints, offer) -> set.accept(hints.epAttr(), FabricAddress.SHARED_CONTEXT)),
            List.of((hints, offer) -> set.accept(hints.epAttr(), most.applyAsLong(offer.domainAttr()) + ONE_BEYOND),
                (hints, offer) -> set.accept(hints.epAttr(), Long.MAX_VALUE)),
            (match, hints) -> {
                long wanted = get.applyAsLong(hints.epAttr());
                return get.applyAsLong(match.epAttr()) == (wanted == 0 ? 1 : wanted);
            });
    }

    private void domainLimit(
        String member, String name, ToLongFunction<DomainAttr> get, ObjLongConsumer<DomainAttr> set) {
        limit(DomainAttr.class, member, "domain_attr." + name, info -> get.applyAsLong(info.domainAttr()),
            (info, value) -> set.accept(info.domainAttr(), value));
    }

    /** Every bit has to be offered. */
    private void bits(
        Class<?> structure, String member, String condition, ToLongFunction<Info> get, ObjLongConsumer<Info> set,
        long beyond) {
        add(structure, member, condition, null,
            List.of((hints, offer) -> set.accept(hints, get.applyAsLong(offer))),
            List.of((hints, offer) -> set.accept(hints, beyond),
                (hints, offer) -> set.accept(hints, get.applyAsLong(offer) | beyond)),
            (match, hints) -> (get.applyAsLong(hints) & ~get.applyAsLong(match)) == 0);
    }

    /** No other value than that which is offered. */
    private <T> void equal(
        Class<?> structure, String member, String condition, Function<Info, T> get, BiConsumer<Info, T> set, T other) {
        add(structure, member, condition, get::apply,
            List.of((hints, offer) -> set.accept(hints, get.apply(offer))),
            List.of((hints, offer) -> set.accept(hints, other)),
            (match, hints) -> get.apply(match).equals(get.apply(hints)));
    }

    /** Automatic progress serves those who ask for manual one, but not the other way round. */
    private void progress(
        Class<?> structure, String member, String condition, Function<Info, Progress> get,
        BiConsumer<Info, Progress> set) {
        add(structure, member, condition, get::apply,
            List.of((hints, offer) -> set.accept(hints, get.apply(offer)),
                (hints, offer) -> set.accept(hints, Progress.MANUAL)),
            List.of((hints, offer) -> set.accept(
                hints, get.apply(offer) == Progress.AUTO ? Progress.UNSPEC : Progress.AUTO)),
            (match, hints) -> get.apply(match) == Progress.AUTO || get.apply(hints) != Progress.AUTO);
    }

    /** The application's choice. */
    private <T extends Enum<T>> void choice(
        Class<?> structure, String member, Function<Info, T> get, BiConsumer<Info, T> set, T[] values) {
        List<BiConsumer<Info, Info>> met = new ArrayList<>();
        for (T value : values) {
            met.add((hints, offer) -> set.accept(hints, value));
        }
        add(structure, member, null, null, met, List.of(),
            (match, hints) -> get.apply(hints).ordinal() == 0 || get.apply(match) == get.apply(hints));
    }

    private void trafficClass(
        Class<?> structure, String condition, ToLongFunction<Info> get, BiConsumer<Info, Integer> set) {
        List<BiConsumer<Info, Info>> met = new ArrayList<>();
        met.add((hints, offer) -> set.accept(hints, TrafficClass.dscpSet(46)));
        for (TrafficClass label : TrafficClass.values()) {
            met.add((hints, offer) -> set.accept(hints, label.code()));
        }
        add(structure, "tclass", condition, null, met, List.of((hints, offer) -> set.accept(hints, 0x206)),
            (match, hints) -> get.applyAsLong(hints) == 0 || get.applyAsLong(match) == get.applyAsLong(hints));
    }

    /** No link has such addresses; those that it has are tested where endpoints are. */
    private void address(
        String member, String condition, Function<Info, String> get, BiConsumer<Info, String> set) {
        add(Info.class, member, condition, get::apply, List.of(),
            List.of((hints, offer) -> set.accept(hints, "nowhere at all")), (match, hints) -> true);
    }

    /** Never refused; why says so for the reader. */
    private void free(
        Class<?> structure, String member, String why, Consumer<Info> set, Holds holds) {
        if (why.isEmpty()) {
            throw new IllegalArgumentException("a member that is not compared needs a reason: " + member);
        }
        add(structure, member, null, null, List.of((hints, offer) -> set.accept(hints)), List.of(), holds);
    }
}
