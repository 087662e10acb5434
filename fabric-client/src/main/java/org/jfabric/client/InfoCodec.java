package org.jfabric.client;

import java.util.List;
import org.jfabric.codec.control.EnableEndpoint;
import org.jfabric.codec.control.InfoFields;
import org.jfabric.codec.control.InfoMatch;
import org.jfabric.codec.control.QueryInfo;
import org.jfabric.info.Attribute;
import org.jfabric.info.AttributeStructure;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Info;

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

    /** The numbers: the schema has them in the order of the attributes. */
    public static InfoFields fields(Info info) {
        FieldWriter writer = new FieldWriter(true);
        for (AttributeStructure<?> structure : structures(info)) {
            for (Attribute<?> each : structure.attributes()) {
                if (each.bytes() == Long.BYTES) {
                    writer.int64(each.number(structure));
                } else if (each.bytes() == Integer.BYTES) {
                    writer.int32((int) each.number(structure));
                }
            }
        }
        return InfoFields.decode(new FieldReader(writer.buffer(), 0, writer.length()));
    }

    private static Info info(
        InfoFields from, String srcAddr, String destAddr, String linkName, String provName, String fabricName,
        String domainName, byte[] authKey) {
        Info info = new Info();
        FieldWriter writer = new FieldWriter(true);
        from.encode(writer);
        FieldReader reader = new FieldReader(writer.buffer(), 0, writer.length());
        for (AttributeStructure<?> structure : structures(info)) {
            for (Attribute<?> each : structure.attributes()) {
                if (each.bytes() == Long.BYTES) {
                    each.number(structure, reader.int64());
                } else if (each.bytes() == Integer.BYTES) {
                    each.number(structure, reader.int32());
                }
            }
        }
        info.srcAddr(orNull(srcAddr)).destAddr(orNull(destAddr)).linkName(orNull(linkName));
        info.fabricAttr().provName(orNull(provName)).name(orNull(fabricName));
        info.domainAttr().name(orNull(domainName)).authKey(authKey);
        info.epAttr().authKey(authKey);
        return info;
    }

    private static List<AttributeStructure<?>> structures(Info info) {
        return List.of(info, info.txAttr(), info.rxAttr(), info.epAttr(), info.domainAttr(), info.fabricAttr());
    }

    private static String orNull(String text) {
        return text.isEmpty() ? null : text;
    }
}
