package org.jfabric.driver.conductor;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jfabric.AddressFormat;
import org.jfabric.AddressVectorType;
import org.jfabric.DomainAttr;
import org.jfabric.EndpointAttr;
import org.jfabric.EndpointType;
import org.jfabric.FabricAttr;
import org.jfabric.Info;
import org.jfabric.Progress;
import org.jfabric.Protocol;
import org.jfabric.ResourceManagement;
import org.jfabric.RxAttr;
import org.jfabric.Threading;
import org.jfabric.TxAttr;
import org.jfabric.codec.control.InfoMatchDecoder;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The attributes of an {@link Info} as they stand, in the same order and one after the other, in the blocks of
 * {@code QueryInfo}, {@code EnableEndpoint} and {@code InfoMatch}. Only the place where they begin differs.
 */
final class InfoBlock {
    private static final int BASE = InfoMatchDecoder.capsEncodingOffset();

    private InfoBlock() {
    }

    /**
     * Reads the attributes of fixed length.
     *
     * @param buffer private memory.
     * @param offset of the field {@code caps}.
     * @return the attributes, names and addresses empty.
     * @throws org.jfabric.FabricException {@code FI_EINVAL} for an enumeration's unknown code.
     */
    static Info decode(DirectBuffer buffer, int offset) {
        int block = offset - BASE;
        Info info = new Info();
        decodeCommon(buffer, block, info);
        decodeTransmit(buffer, block, info.txAttr());
        decodeReceive(buffer, block, info.rxAttr());
        decodeEndpoint(buffer, block, info.epAttr());
        decodeDomain(buffer, block, info.domainAttr());
        decodeFabric(buffer, block, info.fabricAttr());
        return info;
    }

    /**
     * Writes the attributes of fixed length.
     *
     * @param buffer to write to.
     * @param offset of the field {@code caps}.
     * @param info   to be written.
     */
    static void encode(MutableDirectBuffer buffer, int offset, Info info) {
        int block = offset - BASE;
        encodeCommon(buffer, block, info);
        encodeTransmit(buffer, block, info.txAttr());
        encodeReceive(buffer, block, info.rxAttr());
        encodeEndpoint(buffer, block, info.epAttr());
        encodeDomain(buffer, block, info.domainAttr());
        encodeFabric(buffer, block, info.fabricAttr());
    }

    private static void decodeCommon(DirectBuffer buffer, int block, Info attr) {
        attr.caps(longAt(buffer, block + InfoMatchDecoder.capsEncodingOffset()));
        attr.mode(longAt(buffer, block + InfoMatchDecoder.modeEncodingOffset()));
        attr.addrFormat(AddressFormat.of(intAt(buffer, block + InfoMatchDecoder.addrFormatEncodingOffset())));
    }

    private static void decodeTransmit(DirectBuffer buffer, int block, TxAttr attr) {
        attr.caps(longAt(buffer, block + InfoMatchDecoder.txCapsEncodingOffset()));
        attr.mode(longAt(buffer, block + InfoMatchDecoder.txModeEncodingOffset()));
        attr.opFlags(longAt(buffer, block + InfoMatchDecoder.txOpFlagsEncodingOffset()));
        attr.msgOrder(longAt(buffer, block + InfoMatchDecoder.txMsgOrderEncodingOffset()));
        attr.compOrder(longAt(buffer, block + InfoMatchDecoder.txCompOrderEncodingOffset()));
        attr.injectSize(longAt(buffer, block + InfoMatchDecoder.txInjectSizeEncodingOffset()));
        attr.size(longAt(buffer, block + InfoMatchDecoder.txSizeEncodingOffset()));
        attr.iovLimit(longAt(buffer, block + InfoMatchDecoder.txIovLimitEncodingOffset()));
        attr.rmaIovLimit(longAt(buffer, block + InfoMatchDecoder.txRmaIovLimitEncodingOffset()));
        attr.tclass(intAt(buffer, block + InfoMatchDecoder.txTclassEncodingOffset()));
    }

    private static void decodeReceive(DirectBuffer buffer, int block, RxAttr attr) {
        attr.caps(longAt(buffer, block + InfoMatchDecoder.rxCapsEncodingOffset()));
        attr.mode(longAt(buffer, block + InfoMatchDecoder.rxModeEncodingOffset()));
        attr.opFlags(longAt(buffer, block + InfoMatchDecoder.rxOpFlagsEncodingOffset()));
        attr.msgOrder(longAt(buffer, block + InfoMatchDecoder.rxMsgOrderEncodingOffset()));
        attr.compOrder(longAt(buffer, block + InfoMatchDecoder.rxCompOrderEncodingOffset()));
        attr.totalBufferedRecv(longAt(buffer, block + InfoMatchDecoder.rxTotalBufferedRecvEncodingOffset()));
        attr.size(longAt(buffer, block + InfoMatchDecoder.rxSizeEncodingOffset()));
        attr.iovLimit(longAt(buffer, block + InfoMatchDecoder.rxIovLimitEncodingOffset()));
    }

    private static void decodeEndpoint(DirectBuffer buffer, int block, EndpointAttr attr) {
        attr.type(EndpointType.of(intAt(buffer, block + InfoMatchDecoder.epTypeEncodingOffset())));
        attr.protocol(Protocol.of(intAt(buffer, block + InfoMatchDecoder.epProtocolEncodingOffset())));
        attr.protocolVersion(intAt(buffer, block + InfoMatchDecoder.epProtocolVersionEncodingOffset()));
        attr.maxMsgSize(longAt(buffer, block + InfoMatchDecoder.epMaxMsgSizeEncodingOffset()));
        attr.msgPrefixSize(longAt(buffer, block + InfoMatchDecoder.epMsgPrefixSizeEncodingOffset()));
        attr.maxOrderRawSize(longAt(buffer, block + InfoMatchDecoder.epMaxOrderRawSizeEncodingOffset()));
        attr.maxOrderWarSize(longAt(buffer, block + InfoMatchDecoder.epMaxOrderWarSizeEncodingOffset()));
        attr.maxOrderWawSize(longAt(buffer, block + InfoMatchDecoder.epMaxOrderWawSizeEncodingOffset()));
        attr.memTagFormat(longAt(buffer, block + InfoMatchDecoder.epMemTagFormatEncodingOffset()));
        attr.txCtxCnt(longAt(buffer, block + InfoMatchDecoder.epTxCtxCntEncodingOffset()));
        attr.rxCtxCnt(longAt(buffer, block + InfoMatchDecoder.epRxCtxCntEncodingOffset()));
    }

    private static void decodeDomain(DirectBuffer buffer, int block, DomainAttr attr) {
        attr.threading(Threading.of(intAt(buffer, block + InfoMatchDecoder.domThreadingEncodingOffset())));
        attr.controlProgress(Progress.of(intAt(buffer, block + InfoMatchDecoder.domControlProgressEncodingOffset())));
        attr.dataProgress(Progress.of(intAt(buffer, block + InfoMatchDecoder.domDataProgressEncodingOffset())));
        attr.resourceManagement(
            ResourceManagement.of(intAt(buffer, block + InfoMatchDecoder.domResourceMgmtEncodingOffset())));
        attr.avType(AddressVectorType.of(intAt(buffer, block + InfoMatchDecoder.domAvTypeEncodingOffset())));
        attr.mrMode(longAt(buffer, block + InfoMatchDecoder.domMrModeEncodingOffset()));
        attr.mrKeySize(longAt(buffer, block + InfoMatchDecoder.domMrKeySizeEncodingOffset()));
        attr.cqDataSize(longAt(buffer, block + InfoMatchDecoder.domCqDataSizeEncodingOffset()));
        attr.cqCnt(longAt(buffer, block + InfoMatchDecoder.domCqCntEncodingOffset()));
        attr.epCnt(longAt(buffer, block + InfoMatchDecoder.domEpCntEncodingOffset()));
        attr.txCtxCnt(longAt(buffer, block + InfoMatchDecoder.domTxCtxCntEncodingOffset()));
        attr.rxCtxCnt(longAt(buffer, block + InfoMatchDecoder.domRxCtxCntEncodingOffset()));
        attr.maxEpTxCtx(longAt(buffer, block + InfoMatchDecoder.domMaxEpTxCtxEncodingOffset()));
        attr.maxEpRxCtx(longAt(buffer, block + InfoMatchDecoder.domMaxEpRxCtxEncodingOffset()));
        attr.maxEpStxCtx(longAt(buffer, block + InfoMatchDecoder.domMaxEpStxCtxEncodingOffset()));
        attr.maxEpSrxCtx(longAt(buffer, block + InfoMatchDecoder.domMaxEpSrxCtxEncodingOffset()));
        attr.cntrCnt(longAt(buffer, block + InfoMatchDecoder.domCntrCntEncodingOffset()));
        attr.mrIovLimit(longAt(buffer, block + InfoMatchDecoder.domMrIovLimitEncodingOffset()));
        attr.caps(longAt(buffer, block + InfoMatchDecoder.domCapsEncodingOffset()));
        attr.mode(longAt(buffer, block + InfoMatchDecoder.domModeEncodingOffset()));
        attr.maxErrDataSize(longAt(buffer, block + InfoMatchDecoder.domMaxErrDataEncodingOffset()));
        attr.mrCnt(longAt(buffer, block + InfoMatchDecoder.domMrCntEncodingOffset()));
        attr.tclass(intAt(buffer, block + InfoMatchDecoder.domTclassEncodingOffset()));
    }

    private static void decodeFabric(DirectBuffer buffer, int block, FabricAttr attr) {
        attr.provVersion(intAt(buffer, block + InfoMatchDecoder.provVersionEncodingOffset()));
        attr.apiVersion(intAt(buffer, block + InfoMatchDecoder.apiVersionEncodingOffset()));
    }

    private static void encodeCommon(MutableDirectBuffer buffer, int block, Info attr) {
        buffer.putLong(block + InfoMatchDecoder.capsEncodingOffset(), attr.caps(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.modeEncodingOffset(), attr.mode(), LITTLE_ENDIAN);
        buffer.putInt(block + InfoMatchDecoder.addrFormatEncodingOffset(), attr.addrFormat().code(), LITTLE_ENDIAN);
    }

    private static void encodeTransmit(MutableDirectBuffer buffer, int block, TxAttr attr) {
        buffer.putLong(block + InfoMatchDecoder.txCapsEncodingOffset(), attr.caps(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.txModeEncodingOffset(), attr.mode(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.txOpFlagsEncodingOffset(), attr.opFlags(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.txMsgOrderEncodingOffset(), attr.msgOrder(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.txCompOrderEncodingOffset(), attr.compOrder(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.txInjectSizeEncodingOffset(), attr.injectSize(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.txSizeEncodingOffset(), attr.size(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.txIovLimitEncodingOffset(), attr.iovLimit(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.txRmaIovLimitEncodingOffset(), attr.rmaIovLimit(), LITTLE_ENDIAN);
        buffer.putInt(block + InfoMatchDecoder.txTclassEncodingOffset(), attr.tclass(), LITTLE_ENDIAN);
    }

    private static void encodeReceive(MutableDirectBuffer buffer, int block, RxAttr attr) {
        buffer.putLong(block + InfoMatchDecoder.rxCapsEncodingOffset(), attr.caps(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.rxModeEncodingOffset(), attr.mode(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.rxOpFlagsEncodingOffset(), attr.opFlags(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.rxMsgOrderEncodingOffset(), attr.msgOrder(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.rxCompOrderEncodingOffset(), attr.compOrder(), LITTLE_ENDIAN);
        buffer.putLong(
            block + InfoMatchDecoder.rxTotalBufferedRecvEncodingOffset(), attr.totalBufferedRecv(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.rxSizeEncodingOffset(), attr.size(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.rxIovLimitEncodingOffset(), attr.iovLimit(), LITTLE_ENDIAN);
    }

    private static void encodeEndpoint(MutableDirectBuffer buffer, int block, EndpointAttr attr) {
        buffer.putInt(block + InfoMatchDecoder.epTypeEncodingOffset(), attr.type().code(), LITTLE_ENDIAN);
        buffer.putInt(block + InfoMatchDecoder.epProtocolEncodingOffset(), attr.protocol().code(), LITTLE_ENDIAN);
        buffer.putInt(
            block + InfoMatchDecoder.epProtocolVersionEncodingOffset(), attr.protocolVersion(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.epMaxMsgSizeEncodingOffset(), attr.maxMsgSize(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.epMsgPrefixSizeEncodingOffset(), attr.msgPrefixSize(), LITTLE_ENDIAN);
        buffer.putLong(
            block + InfoMatchDecoder.epMaxOrderRawSizeEncodingOffset(), attr.maxOrderRawSize(), LITTLE_ENDIAN);
        buffer.putLong(
            block + InfoMatchDecoder.epMaxOrderWarSizeEncodingOffset(), attr.maxOrderWarSize(), LITTLE_ENDIAN);
        buffer.putLong(
            block + InfoMatchDecoder.epMaxOrderWawSizeEncodingOffset(), attr.maxOrderWawSize(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.epMemTagFormatEncodingOffset(), attr.memTagFormat(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.epTxCtxCntEncodingOffset(), attr.txCtxCnt(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.epRxCtxCntEncodingOffset(), attr.rxCtxCnt(), LITTLE_ENDIAN);
    }

    private static void encodeDomain(MutableDirectBuffer buffer, int block, DomainAttr attr) {
        buffer.putInt(block + InfoMatchDecoder.domThreadingEncodingOffset(), attr.threading().code(), LITTLE_ENDIAN);
        buffer.putInt(
            block + InfoMatchDecoder.domControlProgressEncodingOffset(), attr.controlProgress().code(), LITTLE_ENDIAN);
        buffer.putInt(
            block + InfoMatchDecoder.domDataProgressEncodingOffset(), attr.dataProgress().code(), LITTLE_ENDIAN);
        buffer.putInt(
            block + InfoMatchDecoder.domResourceMgmtEncodingOffset(), attr.resourceManagement().code(), LITTLE_ENDIAN);
        buffer.putInt(block + InfoMatchDecoder.domAvTypeEncodingOffset(), attr.avType().code(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domMrModeEncodingOffset(), attr.mrMode(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domMrKeySizeEncodingOffset(), attr.mrKeySize(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domCqDataSizeEncodingOffset(), attr.cqDataSize(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domCqCntEncodingOffset(), attr.cqCnt(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domEpCntEncodingOffset(), attr.epCnt(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domTxCtxCntEncodingOffset(), attr.txCtxCnt(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domRxCtxCntEncodingOffset(), attr.rxCtxCnt(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domMaxEpTxCtxEncodingOffset(), attr.maxEpTxCtx(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domMaxEpRxCtxEncodingOffset(), attr.maxEpRxCtx(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domMaxEpStxCtxEncodingOffset(), attr.maxEpStxCtx(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domMaxEpSrxCtxEncodingOffset(), attr.maxEpSrxCtx(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domCntrCntEncodingOffset(), attr.cntrCnt(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domMrIovLimitEncodingOffset(), attr.mrIovLimit(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domCapsEncodingOffset(), attr.caps(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domModeEncodingOffset(), attr.mode(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domMaxErrDataEncodingOffset(), attr.maxErrDataSize(), LITTLE_ENDIAN);
        buffer.putLong(block + InfoMatchDecoder.domMrCntEncodingOffset(), attr.mrCnt(), LITTLE_ENDIAN);
        buffer.putInt(block + InfoMatchDecoder.domTclassEncodingOffset(), attr.tclass(), LITTLE_ENDIAN);
    }

    private static void encodeFabric(MutableDirectBuffer buffer, int block, FabricAttr attr) {
        buffer.putInt(block + InfoMatchDecoder.provVersionEncodingOffset(), attr.provVersion(), LITTLE_ENDIAN);
        buffer.putInt(block + InfoMatchDecoder.apiVersionEncodingOffset(), attr.apiVersion(), LITTLE_ENDIAN);
    }

    private static long longAt(DirectBuffer buffer, int offset) {
        return buffer.getLong(offset, LITTLE_ENDIAN);
    }

    private static int intAt(DirectBuffer buffer, int offset) {
        return buffer.getInt(offset, LITTLE_ENDIAN);
    }
}
