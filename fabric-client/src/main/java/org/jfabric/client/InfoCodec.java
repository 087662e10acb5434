package org.jfabric.client;

import org.jfabric.codec.control.EnableEndpoint;
import org.jfabric.codec.control.InfoFields;
import org.jfabric.codec.control.InfoMatch;
import org.jfabric.codec.control.QueryInfo;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.DomainAttr;
import org.jfabric.info.EndpointAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Info;
import org.jfabric.info.Progress;
import org.jfabric.info.Protocol;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.RxAttr;
import org.jfabric.info.Threading;
import org.jfabric.info.TxAttr;

/**
 * An {@link Info} as it stands in {@code QueryInfo}, {@code InfoMatch} and {@code EnableEndpoint}: a run of fixed
 * fields and seven texts, the last of them the key. {@link FabricErrno#EINVAL} for a code that no constant has.
 *
 * <p>Pure functions; any thread.
 */
public final class InfoCodec {
    private InfoCodec() {
    }

    public static Info info(InfoMatch match) {
        return info(match.info(), match.srcAddr(), match.destAddr(), match.linkName(), match.provName(),
            match.fabricName(), match.domainName(), match.authKey());
    }

    public static Info hints(QueryInfo query) {
        return info(query.info(), query.srcAddr(), query.destAddr(), query.linkName(), query.provName(),
            query.fabricName(), query.domainName(), query.authKey());
    }

    public static Info hints(EnableEndpoint endpoint) {
        return info(endpoint.info(), endpoint.srcAddr(), endpoint.destAddr(), endpoint.linkName(),
            endpoint.provName(), endpoint.fabricName(), endpoint.domainName(), endpoint.authKey());
    }

    /** The key of an endpoint, else of its domain. */
    public static byte[] authKey(Info info) {
        return info.epAttr().authKeySize() != 0 ? info.epAttr().authKey() : info.domainAttr().authKey();
    }

    /** The fixed fields, in the order of the schema. */
    public static InfoFields fields(Info info) {
        TxAttr tx = info.txAttr();
        RxAttr rx = info.rxAttr();
        EndpointAttr ep = info.epAttr();
        DomainAttr dom = info.domainAttr();
        FabricAttr fabric = info.fabricAttr();
        return new InfoFields(
            info.caps(), info.mode(), info.addrFormat().code(),
            tx.caps(), tx.mode(), tx.opFlags(), tx.msgOrder(), tx.compOrder(), tx.injectSize(), tx.size(),
            tx.iovLimit(), tx.rmaIovLimit(), tx.tclass(),
            rx.caps(), rx.mode(), rx.opFlags(), rx.msgOrder(), rx.compOrder(), rx.totalBufferedRecv(), rx.size(),
            rx.iovLimit(),
            ep.type().code(), ep.protocol().code(), ep.protocolVersion(), ep.maxMsgSize(), ep.msgPrefixSize(),
            ep.maxOrderRawSize(), ep.maxOrderWarSize(), ep.maxOrderWawSize(), ep.memTagFormat(), ep.txCtxCnt(),
            ep.rxCtxCnt(),
            dom.threading().code(), dom.controlProgress().code(), dom.dataProgress().code(),
            dom.resourceManagement().code(), dom.avType().code(), dom.mrMode(), dom.mrKeySize(), dom.cqDataSize(),
            dom.cqCnt(), dom.epCnt(), dom.txCtxCnt(), dom.rxCtxCnt(), dom.maxEpTxCtx(), dom.maxEpRxCtx(),
            dom.maxEpStxCtx(), dom.maxEpSrxCtx(), dom.cntrCnt(), dom.mrIovLimit(), dom.caps(), dom.mode(),
            dom.maxErrDataSize(), dom.mrCnt(), dom.tclass(),
            fabric.provVersion(), fabric.apiVersion());
    }

    private static Info info(
        InfoFields from, String srcAddr, String destAddr, String linkName, String provName, String fabricName,
        String domainName, byte[] authKey) {
        Info info = new Info().caps(from.caps()).mode(from.mode()).addrFormat(AddressFormat.of(from.addrFormat()))
            .srcAddr(orNull(srcAddr)).destAddr(orNull(destAddr)).linkName(orNull(linkName));
        info.txAttr().caps(from.txCaps()).mode(from.txMode()).opFlags(from.txOpFlags()).msgOrder(from.txMsgOrder())
            .compOrder(from.txCompOrder()).injectSize(from.txInjectSize()).size(from.txSize())
            .iovLimit(from.txIovLimit()).rmaIovLimit(from.txRmaIovLimit()).tclass(from.txTclass());
        info.rxAttr().caps(from.rxCaps()).mode(from.rxMode()).opFlags(from.rxOpFlags()).msgOrder(from.rxMsgOrder())
            .compOrder(from.rxCompOrder()).totalBufferedRecv(from.rxTotalBufferedRecv()).size(from.rxSize())
            .iovLimit(from.rxIovLimit());
        info.epAttr().type(EndpointType.of(from.epType())).protocol(Protocol.of(from.epProtocol()))
            .protocolVersion(from.epProtocolVersion()).maxMsgSize(from.epMaxMsgSize())
            .msgPrefixSize(from.epMsgPrefixSize()).maxOrderRawSize(from.epMaxOrderRawSize())
            .maxOrderWarSize(from.epMaxOrderWarSize()).maxOrderWawSize(from.epMaxOrderWawSize())
            .memTagFormat(from.epMemTagFormat()).txCtxCnt(from.epTxCtxCnt()).rxCtxCnt(from.epRxCtxCnt())
            .authKey(authKey);
        info.domainAttr().threading(Threading.of(from.domThreading()))
            .controlProgress(Progress.of(from.domControlProgress()))
            .dataProgress(Progress.of(from.domDataProgress()))
            .resourceManagement(ResourceManagement.of(from.domResourceMgmt()))
            .avType(AddressVectorType.of(from.domAvType())).mrMode(from.domMrMode()).mrKeySize(from.domMrKeySize())
            .cqDataSize(from.domCqDataSize()).cqCnt(from.domCqCnt()).epCnt(from.domEpCnt())
            .txCtxCnt(from.domTxCtxCnt()).rxCtxCnt(from.domRxCtxCnt()).maxEpTxCtx(from.domMaxEpTxCtx())
            .maxEpRxCtx(from.domMaxEpRxCtx()).maxEpStxCtx(from.domMaxEpStxCtx())
            .maxEpSrxCtx(from.domMaxEpSrxCtx()).cntrCnt(from.domCntrCnt()).mrIovLimit(from.domMrIovLimit())
            .caps(from.domCaps()).mode(from.domMode()).maxErrDataSize(from.domMaxErrData()).mrCnt(from.domMrCnt())
            .tclass(from.domTclass()).name(orNull(domainName)).authKey(authKey);
        info.fabricAttr().provName(orNull(provName)).name(orNull(fabricName)).provVersion(from.provVersion())
            .apiVersion(from.apiVersion());
        return info;
    }

    private static String orNull(String text) {
        return text.isEmpty() ? null : text;
    }
}
