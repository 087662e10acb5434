package org.jfabric.tool.doctor;

import org.jfabric.driver.config.EffectiveValue;

/** Whether a driver would take the options that are set here. */
final class ConfigurationCheck implements Check {
    private static final String NAME = "configuration";

    @Override
    public Finding examine(Host host) {
        if (host.configProblem() != null) {
            return Finding.error(NAME, host.configProblem(), "A driver would not start; the other checks use the"
                + " defaults.", "./fabric options");
        }
        long set = host.config().effectiveValues().stream().filter(value -> !value.isDefault()).count();
        return Finding.ok(NAME, set + " options differ from the defaults"
            + host.config().effectiveValues().stream().filter(value -> !value.isDefault())
                .map(EffectiveValue::where).distinct().reduce("", (left, right) -> left + "; " + right));
    }
}
