package org.jfabric;

import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.ProtocolErrno;
import org.jfabric.info.VerbsErrno;
import org.jfabric.layout.RefusedValueDescriptor;

/** The text of an error entry's {@code provErrno} and error data, for every kind of queue. */
final class ErrorText {
    private static final int MAX_SHOWN_ERR_DATA = 32;

    private ErrorText() {
    }

    /** Text, never empty; where a buffer is given it is stored there too, cut and ended by a zero byte. */
    static String of(int provErrno, DirectBuffer data, MutableDirectBuffer buffer, int offset, int len) {
        StringBuilder text = new StringBuilder(VerbsErrno.isVerbs(provErrno) ? VerbsErrno.describe(provErrno)
            : ProtocolErrno.isProtocol(provErrno) ? ProtocolErrno.describe(provErrno)
            : FabricErrno.name(provErrno) + ": " + FabricErrno.describe(provErrno));
        String value = data == null || !isOfAValue(Math.abs(provErrno)) ? null : RefusedValueDescriptor.describe(data);
        if (value != null) {
            text.append(' ').append(value);
        } else if (data != null && data.capacity() > 0) {
            text.append(" Data:");
            int shown = Math.min(data.capacity(), MAX_SHOWN_ERR_DATA);
            for (int i = 0; i < shown; i++) {
                text.append(String.format(" %02x", data.getByte(i)));
            }
            text.append(shown < data.capacity() ? " ..." : "");
        }
        String result = text.toString();
        if (buffer != null && len > 0) {
            byte[] bytes = result.getBytes(StandardCharsets.US_ASCII);
            int stored = Math.min(bytes.length, len - 1);
            buffer.putBytes(offset, bytes, 0, stored);
            buffer.putByte(offset + stored, (byte) 0);
        }
        return result;
    }

    /** Whether an operation that is refused with this code may have error data that names the value. */
    private static boolean isOfAValue(int errno) {
        return errno == FabricErrno.EFAULT || errno == FabricErrno.EINVAL || errno == FabricErrno.EACCES
            || errno == FabricErrno.ENOKEY || errno == FabricErrno.EKEYREJECTED || VerbsErrno.isVerbs(errno);
    }
}
