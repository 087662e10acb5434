package org.jfabric.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.ControlMessage.DriverMessage;
import org.jfabric.codec.control.InfoFieldsDecoder;
import org.jfabric.codec.control.InfoMatch;
import org.jfabric.codec.control.InfoMatchDecoder;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.Attribute;
import org.jfabric.info.AttributeStructure;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.Progress;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.Threading;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;

class InfoCodecTest {
    private final FieldWriter fields = new FieldWriter(true);

    @Test
    void shouldHaveTheNumbersInTheOrderOfTheSchema() throws ReflectiveOperationException {
        int next = 0;
        Info info = new Info();
        for (AttributeStructure<?> structure : List.of(info, info.txAttr(), info.rxAttr(), info.epAttr(),
            info.domainAttr(), info.fabricAttr())) {
            for (Attribute<?> each : structure.attributes()) {
                if (each.bytes() > 0) {
                    assertEquals(InfoFieldsDecoder.class.getMethod(field(each.name()) + "EncodingOffset").invoke(null),
                        next, each.name());
                }
                next += each.bytes();
            }
        }
        assertEquals(InfoFieldsDecoder.ENCODED_LENGTH, next);
    }

    /** Such as txMsgOrder for tx_attr.msg_order. */
    private static String field(String name) {
        String words = name.replace("domain_attr.", "dom_").replace("fabric_attr.", "").replace("_attr.", "_");
        return Pattern.compile("_(.)").matcher(words).replaceAll(found -> found.group(1).toUpperCase(Locale.ROOT));
    }

    @Test
    @Requirement({"EP-118", "TX-001", "RX-001"})
    void shouldKeepEveryMember() {
        Info info = info();
        match(info).encode(fields);
        Info read = InfoCodec.info((InfoMatch) DriverMessage.decode(
            InfoMatchDecoder.TEMPLATE_ID, new FieldReader(fields.buffer(), 0, fields.length())));
        assertEquals(info.toString(), read.toString());
        assertEquals(7, read.epAttr().authKey()[1]);
        assertNull(read.destAddr());
    }

    @Test
    void shouldStandWhereTheSchemaSays() {
        match(info()).encode(fields);
        InfoFieldsDecoder decoder = new InfoMatchDecoder().wrap(
            fields.buffer(), 0, InfoMatchDecoder.BLOCK_LENGTH, InfoMatchDecoder.SCHEMA_VERSION).info();
        assertEquals(AddressFormat.ADDR_STR.code(), decoder.addrFormatRaw());
        assertEquals(8, decoder.txInjectSize());
        assertEquals(12, decoder.txTclass());
        assertEquals(20, decoder.rxIovLimit());
        assertEquals(EndpointType.RDM.code(), decoder.epTypeRaw());
        assertEquals(29, decoder.epRxCtxCnt());
        assertEquals(Progress.MANUAL.code(), decoder.domDataProgressRaw());
        assertEquals(46, decoder.domMrCnt());
        assertEquals(49, decoder.apiVersion());
    }

    @Test
    void shouldRefuseTextsThatCannotBeWritten() {
        InfoMatch accented = match(new Info().srcAddr("jfabric://d/\u00e9"));
        assertEquals(FabricErrno.EINVAL,
            assertThrows(FabricException.class, () -> accented.encode(fields)).errno());
        InfoMatch tooLong = match(new Info().destAddr("x".repeat(4097)));
        assertEquals(FabricErrno.EINVAL,
            assertThrows(FabricException.class, () -> tooLong.encode(fields)).errno());
    }

    @Test
    void shouldNotReadBeyondTheMessage() {
        UnsafeBuffer message = new UnsafeBuffer(new byte[16]);
        for (int length : new int[] {9, -1, Integer.MAX_VALUE}) {
            message.putInt(4, length);
            assertThrows(FabricException.class, () -> new FieldReader(message, 4, 16).bytes());
        }
        message.putInt(4, 8);
        FieldReader reader = new FieldReader(message, 4, 16);
        assertEquals(8, reader.bytes().length);
        assertThrows(FabricException.class, reader::ascii);
        assertThrows(FabricException.class, () -> new FieldReader(message, 13, 16).bytes());
        assertThrows(FabricException.class, () -> new FieldReader(message, 9, 16).int64());
        assertThrows(FabricException.class, () -> new FieldReader(message, 13, 16).int32());
        assertThrows(FabricException.class, () -> new FieldReader(message, 16, 16).uint8());
    }

    @Test
    void shouldKeepReasonsAndShowWhatItCannotSplit() {
        List<Reason> reasons = List.of(new Reason("caps", "MSG", "TAGGED", ""), new Reason("a\tb", "c\nd", "e", "f"));
        List<Reason> read = ReasonText.parse(ReasonText.format(reasons));
        assertEquals(reasons.get(0), read.get(0));
        assertEquals(new Reason("a b", "c d", "e", "f"), read.get(1));
        assertEquals("just text", ReasonText.parse("just text\n").get(0).seen());
        assertEquals(List.of(), ReasonText.parse(""));
    }

    private static InfoMatch match(Info info) {
        return new InfoMatch(1, InfoCodec.fields(info), info.srcAddr(), info.destAddr(), info.linkName(),
            info.fabricAttr().provName(), info.fabricAttr().name(), info.domainAttr().name(), InfoCodec.authKey(info));
    }

    private static Info info() {
        Info info = new Info().caps(1).mode(2).addrFormat(AddressFormat.ADDR_STR);
        info.srcAddr("jfabric://d/e").linkName("shm");
        info.txAttr().caps(3).mode(4).opFlags(5).msgOrder(6).compOrder(7).injectSize(8).size(9).iovLimit(10)
            .rmaIovLimit(11).tclass(12);
        info.rxAttr().caps(13).mode(14).opFlags(15).msgOrder(16).compOrder(17).totalBufferedRecv(18).size(19)
            .iovLimit(20);
        info.epAttr().type(EndpointType.RDM).protocol(Protocol.UNSPEC).protocolVersion(21).maxMsgSize(22)
            .msgPrefixSize(23).maxOrderRawSize(24).maxOrderWarSize(25).maxOrderWawSize(26).memTagFormat(27)
            .txCtxCnt(28).rxCtxCnt(29).authKey(new byte[] {6, 7});
        info.domainAttr().threading(Threading.SAFE).controlProgress(Progress.AUTO).dataProgress(Progress.MANUAL)
            .resourceManagement(ResourceManagement.ENABLED).avType(AddressVectorType.TABLE).mrMode(30).mrKeySize(31)
            .cqDataSize(32).cqCnt(33).epCnt(34).txCtxCnt(35).rxCtxCnt(36).maxEpTxCtx(37).maxEpRxCtx(38)
            .maxEpStxCtx(39).maxEpSrxCtx(40).cntrCnt(41).mrIovLimit(42).caps(43).mode(44).maxErrDataSize(45)
            .mrCnt(46).tclass(47).name("domain").authKey(new byte[] {6, 7});
        info.fabricAttr().name("fabric").provName("prov").provVersion(48).apiVersion(49);
        return info;
    }
}
