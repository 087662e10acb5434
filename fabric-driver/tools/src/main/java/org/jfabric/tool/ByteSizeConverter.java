package org.jfabric.tool;

import org.jfabric.driver.config.Quantity;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads sizes as the driver's options are written: bytes, or with KiB, MiB, GiB. */
final class ByteSizeConverter implements ITypeConverter<Long> {
    ByteSizeConverter() {
    }

    @Override
    public Long convert(String text) {
        try {
            return Quantity.parseBytes(text);
        } catch (IllegalArgumentException ex) {
            throw new TypeConversionException(
                "\"" + text + "\" is no size; use bytes, or a whole number with KiB, MiB or GiB");
        }
    }
}
