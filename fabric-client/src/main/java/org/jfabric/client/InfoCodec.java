package org.jfabric.client;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jfabric.codec.control.InfoMatchEncoder;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.DomainAttr;
import org.jfabric.info.EndpointAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.Progress;
import org.jfabric.info.Protocol;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.RxAttr;
import org.jfabric.info.Threading;
import org.jfabric.info.TxAttr;

/**
 * Writes and reads an {@link Info} as it stands in {@code QueryInfo}, {@code InfoMatch} and {@code EnableEndpoint}: a
 * run of fixed fields, the same in all three, and the first seven variable-length fields.
 *
 * <p>Pure functions; any thread.
 */
public final class InfoCodec {
    /** Bytes of the fixed fields, from caps to the API version. */
    public static final int FIXED_LENGTH = at(InfoMatchEncoder.apiVersionEncodingOffset()) + Integer.BYTES;
    private static final int CAPS = at(InfoMatchEncoder.capsEncodingOffset());
    private static final int MODE = at(InfoMatchEncoder.modeEncodingOffset());
    private static final int ADDR_FORMAT = at(InfoMatchEncoder.addrFormatEncodingOffset());
    private static final int TX_CAPS = at(InfoMatchEncoder.txCapsEncodingOffset());
    private static final int TX_MODE = at(InfoMatchEncoder.txModeEncodingOffset());
    private static final int TX_OP_FLAGS = at(InfoMatchEncoder.txOpFlagsEncodingOffset());
    private static final int TX_MSG_ORDER = at(InfoMatchEncoder.txMsgOrderEncodingOffset());
    private static final int TX_COMP_ORDER = at(InfoMatchEncoder.txCompOrderEncodingOffset());
    private static final int TX_INJECT_SIZE = at(InfoMatchEncoder.txInjectSizeEncodingOffset());
    private static final int TX_SIZE = at(InfoMatchEncoder.txSizeEncodingOffset());
    private static final int TX_IOV_LIMIT = at(InfoMatchEncoder.txIovLimitEncodingOffset());
    private static final int TX_RMA_IOV_LIMIT = at(InfoMatchEncoder.txRmaIovLimitEncodingOffset());
    private static final int TX_TCLASS = at(InfoMatchEncoder.txTclassEncodingOffset());
    private static final int RX_CAPS = at(InfoMatchEncoder.rxCapsEncodingOffset());
    private static final int RX_MODE = at(InfoMatchEncoder.rxModeEncodingOffset());
    private static final int RX_OP_FLAGS = at(InfoMatchEncoder.rxOpFlagsEncodingOffset());
    private static final int RX_MSG_ORDER = at(InfoMatchEncoder.rxMsgOrderEncodingOffset());
    private static final int RX_COMP_ORDER = at(InfoMatchEncoder.rxCompOrderEncodingOffset());
    private static final int RX_TOTAL_BUFFERED_RECV = at(InfoMatchEncoder.rxTotalBufferedRecvEncodingOffset());
    private static final int RX_SIZE = at(InfoMatchEncoder.rxSizeEncodingOffset());
    private static final int RX_IOV_LIMIT = at(InfoMatchEncoder.rxIovLimitEncodingOffset());
    private static final int EP_TYPE = at(InfoMatchEncoder.epTypeEncodingOffset());
    private static final int EP_PROTOCOL = at(InfoMatchEncoder.epProtocolEncodingOffset());
    private static final int EP_PROTOCOL_VERSION = at(InfoMatchEncoder.epProtocolVersionEncodingOffset());
    private static final int EP_MAX_MSG_SIZE = at(InfoMatchEncoder.epMaxMsgSizeEncodingOffset());
    private static final int EP_MSG_PREFIX_SIZE = at(InfoMatchEncoder.epMsgPrefixSizeEncodingOffset());
    private static final int EP_MAX_ORDER_RAW_SIZE = at(InfoMatchEncoder.epMaxOrderRawSizeEncodingOffset());
    private static final int EP_MAX_ORDER_WAR_SIZE = at(InfoMatchEncoder.epMaxOrderWarSizeEncodingOffset());
    private static final int EP_MAX_ORDER_WAW_SIZE = at(InfoMatchEncoder.epMaxOrderWawSizeEncodingOffset());
    private static final int EP_MEM_TAG_FORMAT = at(InfoMatchEncoder.epMemTagFormatEncodingOffset());
    private static final int EP_TX_CTX_CNT = at(InfoMatchEncoder.epTxCtxCntEncodingOffset());
    private static final int EP_RX_CTX_CNT = at(InfoMatchEncoder.epRxCtxCntEncodingOffset());
    private static final int DOM_THREADING = at(InfoMatchEncoder.domThreadingEncodingOffset());
    private static final int DOM_CONTROL_PROGRESS = at(InfoMatchEncoder.domControlProgressEncodingOffset());
    private static final int DOM_DATA_PROGRESS = at(InfoMatchEncoder.domDataProgressEncodingOffset());
    private static final int DOM_RESOURCE_MGMT = at(InfoMatchEncoder.domResourceMgmtEncodingOffset());
    private static final int DOM_AV_TYPE = at(InfoMatchEncoder.domAvTypeEncodingOffset());
    private static final int DOM_MR_MODE = at(InfoMatchEncoder.domMrModeEncodingOffset());
    private static final int DOM_MR_KEY_SIZE = at(InfoMatchEncoder.domMrKeySizeEncodingOffset());
    private static final int DOM_CQ_DATA_SIZE = at(InfoMatchEncoder.domCqDataSizeEncodingOffset());
    private static final int DOM_CQ_CNT = at(InfoMatchEncoder.domCqCntEncodingOffset());
    private static final int DOM_EP_CNT = at(InfoMatchEncoder.domEpCntEncodingOffset());
    private static final int DOM_TX_CTX_CNT = at(InfoMatchEncoder.domTxCtxCntEncodingOffset());
    private static final int DOM_RX_CTX_CNT = at(InfoMatchEncoder.domRxCtxCntEncodingOffset());
    private static final int DOM_MAX_EP_TX_CTX = at(InfoMatchEncoder.domMaxEpTxCtxEncodingOffset());
    private static final int DOM_MAX_EP_RX_CTX = at(InfoMatchEncoder.domMaxEpRxCtxEncodingOffset());
    private static final int DOM_MAX_EP_STX_CTX = at(InfoMatchEncoder.domMaxEpStxCtxEncodingOffset());
    private static final int DOM_MAX_EP_SRX_CTX = at(InfoMatchEncoder.domMaxEpSrxCtxEncodingOffset());
    private static final int DOM_CNTR_CNT = at(InfoMatchEncoder.domCntrCntEncodingOffset());
    private static final int DOM_MR_IOV_LIMIT = at(InfoMatchEncoder.domMrIovLimitEncodingOffset());
    private static final int DOM_CAPS = at(InfoMatchEncoder.domCapsEncodingOffset());
    private static final int DOM_MODE = at(InfoMatchEncoder.domModeEncodingOffset());
    private static final int DOM_MAX_ERR_DATA = at(InfoMatchEncoder.domMaxErrDataEncodingOffset());
    private static final int DOM_MR_CNT = at(InfoMatchEncoder.domMrCntEncodingOffset());
    private static final int DOM_TCLASS = at(InfoMatchEncoder.domTclassEncodingOffset());
    private static final int PROV_VERSION = at(InfoMatchEncoder.provVersionEncodingOffset());
    private static final int API_VERSION = at(InfoMatchEncoder.apiVersionEncodingOffset());
    private static final int MAX_TEXT_LENGTH = 4096;

    private InfoCodec() {
    }

    /**
     * Writes the fixed fields.
     *
     * @param index  where its caps stand: start of the block plus {@code capsEncodingOffset()}.
     */
    public static void putFixed(MutableDirectBuffer buffer, int index, Info info) {
        FabricAttr fabric = info.fabricAttr();
        buffer.putLong(index + CAPS, info.caps(), LITTLE_ENDIAN);
        buffer.putLong(index + MODE, info.mode(), LITTLE_ENDIAN);
        buffer.putInt(index + ADDR_FORMAT, info.addrFormat().code(), LITTLE_ENDIAN);
        buffer.putInt(index + PROV_VERSION, fabric.provVersion(), LITTLE_ENDIAN);
        buffer.putInt(index + API_VERSION, fabric.apiVersion(), LITTLE_ENDIAN);
        putTransmit(buffer, index, info.txAttr());
        putReceive(buffer, index, info.rxAttr());
        putEndpoint(buffer, index, info.epAttr());
        putDomain(buffer, index, info.domainAttr());
    }

    /**
     * Reads the fixed fields.
     *
     * @param index  where its caps stand: start of the block plus {@code capsEncodingOffset()}.
     * @return a new info without its texts.
     * @throws FabricException with {@link FabricErrno#EINVAL} for a code that no constant has.
     */
    public static Info getFixed(DirectBuffer buffer, int index) {
        Info info = new Info();
        FabricAttr fabric = info.fabricAttr();
        info.caps(buffer.getLong(index + CAPS, LITTLE_ENDIAN));
        info.mode(buffer.getLong(index + MODE, LITTLE_ENDIAN));
        info.addrFormat(AddressFormat.of(buffer.getInt(index + ADDR_FORMAT, LITTLE_ENDIAN)));
        fabric.provVersion(buffer.getInt(index + PROV_VERSION, LITTLE_ENDIAN));
        fabric.apiVersion(buffer.getInt(index + API_VERSION, LITTLE_ENDIAN));
        getTransmit(buffer, index, info.txAttr());
        getReceive(buffer, index, info.rxAttr());
        getEndpoint(buffer, index, info.epAttr());
        getDomain(buffer, index, info.domainAttr());
        return info;
    }

    /**
     * Writes the texts and the key, in the order of the schema.
     *
     * @param buffer holds the message; grows if it can.
     * @param index  where the first variable-length field starts.
     * @param info   values; null is written as empty.
     * @return index behind them.
     * @throws FabricException with {@link FabricErrno#EINVAL} for a text that is too long or not ASCII.
     */
    public static int putTexts(MutableDirectBuffer buffer, int index, Info info) {
        int next = putText(buffer, index, "srcAddr", info.srcAddr());
        next = putText(buffer, next, "destAddr", info.destAddr());
        next = putText(buffer, next, "linkName", info.linkName());
        next = putText(buffer, next, "provName", info.fabricAttr().provName());
        next = putText(buffer, next, "fabric name", info.fabricAttr().name());
        next = putText(buffer, next, "domain name", info.domainAttr().name());
        byte[] key = info.epAttr().authKeySize() != 0 ? info.epAttr().authKey() : info.domainAttr().authKey();
        return putBytes(buffer, next, "authKey", key);
    }

    /**
     * Reads the texts and the key, in the order of the schema.
     *
     * @param reader at the first variable-length field.
     * @param info   receives them; empty ones become null.
     */
    public static void getTexts(VarDataReader reader, Info info) {
        info.srcAddr(reader.asciiOrNull());
        info.destAddr(reader.asciiOrNull());
        info.linkName(reader.asciiOrNull());
        info.fabricAttr().provName(reader.asciiOrNull());
        info.fabricAttr().name(reader.asciiOrNull());
        info.domainAttr().name(reader.asciiOrNull());
        byte[] key = reader.bytes();
        info.epAttr().authKey(key);
        info.domainAttr().authKey(key);
    }

    /**
     * Writes one text as a variable-length field.
     *
     * @param buffer holds the message; grows if it can.
     * @param index  where the field starts.
     * @param text   ASCII; null is written as empty.
     * @return index behind it.
     * @throws FabricException with {@link FabricErrno#EINVAL} for a text that is too long or not ASCII.
     */
    public static int putText(MutableDirectBuffer buffer, int index, String what, String text) {
        if (text == null) {
            return putBytes(buffer, index, what, new byte[0]);
        }
        if (!StandardCharsets.US_ASCII.newEncoder().canEncode(text)) {
            throw new FabricException(FabricErrno.EINVAL, what + " is \"" + text + "\", needed are ASCII characters");
        }
        return putBytes(buffer, index, what, text.getBytes(StandardCharsets.US_ASCII));
    }

    static int putBytes(MutableDirectBuffer buffer, int index, String what, byte[] bytes) {
        if (bytes.length > MAX_TEXT_LENGTH) {
            throw new FabricException(FabricErrno.EINVAL,
                what + " has " + bytes.length + " bytes, at most " + MAX_TEXT_LENGTH + " are possible");
        }
        buffer.putInt(index, bytes.length, LITTLE_ENDIAN);
        buffer.putBytes(index + Integer.BYTES, bytes);
        return index + Integer.BYTES + bytes.length;
    }

    private static void putTransmit(MutableDirectBuffer buffer, int index, TxAttr tx) {
        buffer.putLong(index + TX_CAPS, tx.caps(), LITTLE_ENDIAN);
        buffer.putLong(index + TX_MODE, tx.mode(), LITTLE_ENDIAN);
        buffer.putLong(index + TX_OP_FLAGS, tx.opFlags(), LITTLE_ENDIAN);
        buffer.putLong(index + TX_MSG_ORDER, tx.msgOrder(), LITTLE_ENDIAN);
        buffer.putLong(index + TX_COMP_ORDER, tx.compOrder(), LITTLE_ENDIAN);
        buffer.putLong(index + TX_INJECT_SIZE, tx.injectSize(), LITTLE_ENDIAN);
        buffer.putLong(index + TX_SIZE, tx.size(), LITTLE_ENDIAN);
        buffer.putLong(index + TX_IOV_LIMIT, tx.iovLimit(), LITTLE_ENDIAN);
        buffer.putLong(index + TX_RMA_IOV_LIMIT, tx.rmaIovLimit(), LITTLE_ENDIAN);
        buffer.putInt(index + TX_TCLASS, tx.tclass(), LITTLE_ENDIAN);
    }

    private static void getTransmit(DirectBuffer buffer, int index, TxAttr tx) {
        tx.caps(buffer.getLong(index + TX_CAPS, LITTLE_ENDIAN));
        tx.mode(buffer.getLong(index + TX_MODE, LITTLE_ENDIAN));
        tx.opFlags(buffer.getLong(index + TX_OP_FLAGS, LITTLE_ENDIAN));
        tx.msgOrder(buffer.getLong(index + TX_MSG_ORDER, LITTLE_ENDIAN));
        tx.compOrder(buffer.getLong(index + TX_COMP_ORDER, LITTLE_ENDIAN));
        tx.injectSize(buffer.getLong(index + TX_INJECT_SIZE, LITTLE_ENDIAN));
        tx.size(buffer.getLong(index + TX_SIZE, LITTLE_ENDIAN));
        tx.iovLimit(buffer.getLong(index + TX_IOV_LIMIT, LITTLE_ENDIAN));
        tx.rmaIovLimit(buffer.getLong(index + TX_RMA_IOV_LIMIT, LITTLE_ENDIAN));
        tx.tclass(buffer.getInt(index + TX_TCLASS, LITTLE_ENDIAN));
    }

    private static void putReceive(MutableDirectBuffer buffer, int index, RxAttr rx) {
        buffer.putLong(index + RX_CAPS, rx.caps(), LITTLE_ENDIAN);
        buffer.putLong(index + RX_MODE, rx.mode(), LITTLE_ENDIAN);
        buffer.putLong(index + RX_OP_FLAGS, rx.opFlags(), LITTLE_ENDIAN);
        buffer.putLong(index + RX_MSG_ORDER, rx.msgOrder(), LITTLE_ENDIAN);
        buffer.putLong(index + RX_COMP_ORDER, rx.compOrder(), LITTLE_ENDIAN);
        buffer.putLong(index + RX_TOTAL_BUFFERED_RECV, rx.totalBufferedRecv(), LITTLE_ENDIAN);
        buffer.putLong(index + RX_SIZE, rx.size(), LITTLE_ENDIAN);
        buffer.putLong(index + RX_IOV_LIMIT, rx.iovLimit(), LITTLE_ENDIAN);
    }

    private static void getReceive(DirectBuffer buffer, int index, RxAttr rx) {
        rx.caps(buffer.getLong(index + RX_CAPS, LITTLE_ENDIAN));
        rx.mode(buffer.getLong(index + RX_MODE, LITTLE_ENDIAN));
        rx.opFlags(buffer.getLong(index + RX_OP_FLAGS, LITTLE_ENDIAN));
        rx.msgOrder(buffer.getLong(index + RX_MSG_ORDER, LITTLE_ENDIAN));
        rx.compOrder(buffer.getLong(index + RX_COMP_ORDER, LITTLE_ENDIAN));
        rx.totalBufferedRecv(buffer.getLong(index + RX_TOTAL_BUFFERED_RECV, LITTLE_ENDIAN));
        rx.size(buffer.getLong(index + RX_SIZE, LITTLE_ENDIAN));
        rx.iovLimit(buffer.getLong(index + RX_IOV_LIMIT, LITTLE_ENDIAN));
    }

    private static void putEndpoint(MutableDirectBuffer buffer, int index, EndpointAttr ep) {
        buffer.putInt(index + EP_TYPE, ep.type().code(), LITTLE_ENDIAN);
        buffer.putInt(index + EP_PROTOCOL, ep.protocol().code(), LITTLE_ENDIAN);
        buffer.putInt(index + EP_PROTOCOL_VERSION, ep.protocolVersion(), LITTLE_ENDIAN);
        buffer.putLong(index + EP_MAX_MSG_SIZE, ep.maxMsgSize(), LITTLE_ENDIAN);
        buffer.putLong(index + EP_MSG_PREFIX_SIZE, ep.msgPrefixSize(), LITTLE_ENDIAN);
        buffer.putLong(index + EP_MAX_ORDER_RAW_SIZE, ep.maxOrderRawSize(), LITTLE_ENDIAN);
        buffer.putLong(index + EP_MAX_ORDER_WAR_SIZE, ep.maxOrderWarSize(), LITTLE_ENDIAN);
        buffer.putLong(index + EP_MAX_ORDER_WAW_SIZE, ep.maxOrderWawSize(), LITTLE_ENDIAN);
        buffer.putLong(index + EP_MEM_TAG_FORMAT, ep.memTagFormat(), LITTLE_ENDIAN);
        buffer.putLong(index + EP_TX_CTX_CNT, ep.txCtxCnt(), LITTLE_ENDIAN);
        buffer.putLong(index + EP_RX_CTX_CNT, ep.rxCtxCnt(), LITTLE_ENDIAN);
    }

    private static void getEndpoint(DirectBuffer buffer, int index, EndpointAttr ep) {
        ep.type(EndpointType.of(buffer.getInt(index + EP_TYPE, LITTLE_ENDIAN)));
        ep.protocol(Protocol.of(buffer.getInt(index + EP_PROTOCOL, LITTLE_ENDIAN)));
        ep.protocolVersion(buffer.getInt(index + EP_PROTOCOL_VERSION, LITTLE_ENDIAN));
        ep.maxMsgSize(buffer.getLong(index + EP_MAX_MSG_SIZE, LITTLE_ENDIAN));
        ep.msgPrefixSize(buffer.getLong(index + EP_MSG_PREFIX_SIZE, LITTLE_ENDIAN));
        ep.maxOrderRawSize(buffer.getLong(index + EP_MAX_ORDER_RAW_SIZE, LITTLE_ENDIAN));
        ep.maxOrderWarSize(buffer.getLong(index + EP_MAX_ORDER_WAR_SIZE, LITTLE_ENDIAN));
        ep.maxOrderWawSize(buffer.getLong(index + EP_MAX_ORDER_WAW_SIZE, LITTLE_ENDIAN));
        ep.memTagFormat(buffer.getLong(index + EP_MEM_TAG_FORMAT, LITTLE_ENDIAN));
        ep.txCtxCnt(buffer.getLong(index + EP_TX_CTX_CNT, LITTLE_ENDIAN));
        ep.rxCtxCnt(buffer.getLong(index + EP_RX_CTX_CNT, LITTLE_ENDIAN));
    }

    private static void putDomain(MutableDirectBuffer buffer, int index, DomainAttr dom) {
        buffer.putInt(index + DOM_THREADING, dom.threading().code(), LITTLE_ENDIAN);
        buffer.putInt(index + DOM_CONTROL_PROGRESS, dom.controlProgress().code(), LITTLE_ENDIAN);
        buffer.putInt(index + DOM_DATA_PROGRESS, dom.dataProgress().code(), LITTLE_ENDIAN);
        buffer.putInt(index + DOM_RESOURCE_MGMT, dom.resourceManagement().code(), LITTLE_ENDIAN);
        buffer.putInt(index + DOM_AV_TYPE, dom.avType().code(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_MR_MODE, dom.mrMode(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_MR_KEY_SIZE, dom.mrKeySize(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_CQ_DATA_SIZE, dom.cqDataSize(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_CQ_CNT, dom.cqCnt(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_EP_CNT, dom.epCnt(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_TX_CTX_CNT, dom.txCtxCnt(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_RX_CTX_CNT, dom.rxCtxCnt(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_MAX_EP_TX_CTX, dom.maxEpTxCtx(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_MAX_EP_RX_CTX, dom.maxEpRxCtx(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_MAX_EP_STX_CTX, dom.maxEpStxCtx(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_MAX_EP_SRX_CTX, dom.maxEpSrxCtx(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_CNTR_CNT, dom.cntrCnt(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_MR_IOV_LIMIT, dom.mrIovLimit(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_CAPS, dom.caps(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_MODE, dom.mode(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_MAX_ERR_DATA, dom.maxErrDataSize(), LITTLE_ENDIAN);
        buffer.putLong(index + DOM_MR_CNT, dom.mrCnt(), LITTLE_ENDIAN);
        buffer.putInt(index + DOM_TCLASS, dom.tclass(), LITTLE_ENDIAN);
    }

    private static void getDomain(DirectBuffer buffer, int index, DomainAttr dom) {
        dom.threading(Threading.of(buffer.getInt(index + DOM_THREADING, LITTLE_ENDIAN)));
        dom.controlProgress(Progress.of(buffer.getInt(index + DOM_CONTROL_PROGRESS, LITTLE_ENDIAN)));
        dom.dataProgress(Progress.of(buffer.getInt(index + DOM_DATA_PROGRESS, LITTLE_ENDIAN)));
        dom.resourceManagement(ResourceManagement.of(buffer.getInt(index + DOM_RESOURCE_MGMT, LITTLE_ENDIAN)));
        dom.avType(AddressVectorType.of(buffer.getInt(index + DOM_AV_TYPE, LITTLE_ENDIAN)));
        dom.mrMode(buffer.getLong(index + DOM_MR_MODE, LITTLE_ENDIAN));
        dom.mrKeySize(buffer.getLong(index + DOM_MR_KEY_SIZE, LITTLE_ENDIAN));
        dom.cqDataSize(buffer.getLong(index + DOM_CQ_DATA_SIZE, LITTLE_ENDIAN));
        dom.cqCnt(buffer.getLong(index + DOM_CQ_CNT, LITTLE_ENDIAN));
        dom.epCnt(buffer.getLong(index + DOM_EP_CNT, LITTLE_ENDIAN));
        dom.txCtxCnt(buffer.getLong(index + DOM_TX_CTX_CNT, LITTLE_ENDIAN));
        dom.rxCtxCnt(buffer.getLong(index + DOM_RX_CTX_CNT, LITTLE_ENDIAN));
        dom.maxEpTxCtx(buffer.getLong(index + DOM_MAX_EP_TX_CTX, LITTLE_ENDIAN));
        dom.maxEpRxCtx(buffer.getLong(index + DOM_MAX_EP_RX_CTX, LITTLE_ENDIAN));
        dom.maxEpStxCtx(buffer.getLong(index + DOM_MAX_EP_STX_CTX, LITTLE_ENDIAN));
        dom.maxEpSrxCtx(buffer.getLong(index + DOM_MAX_EP_SRX_CTX, LITTLE_ENDIAN));
        dom.cntrCnt(buffer.getLong(index + DOM_CNTR_CNT, LITTLE_ENDIAN));
        dom.mrIovLimit(buffer.getLong(index + DOM_MR_IOV_LIMIT, LITTLE_ENDIAN));
        dom.caps(buffer.getLong(index + DOM_CAPS, LITTLE_ENDIAN));
        dom.mode(buffer.getLong(index + DOM_MODE, LITTLE_ENDIAN));
        dom.maxErrDataSize(buffer.getLong(index + DOM_MAX_ERR_DATA, LITTLE_ENDIAN));
        dom.mrCnt(buffer.getLong(index + DOM_MR_CNT, LITTLE_ENDIAN));
        dom.tclass(buffer.getInt(index + DOM_TCLASS, LITTLE_ENDIAN));
    }

    private static int at(int encodingOffset) {
        return encodingOffset - InfoMatchEncoder.capsEncodingOffset();
    }
}
