package org.jfabric.driver.metrics;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.ObjectName;
import org.jfabric.driver.config.MetricsConfig;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The metrics as attributes of an MBean, {@code org.jfabric:type=Driver,name=<name>}: each sample of the page with its
 * name and labels, without the buckets of histograms. They are read when they are asked for, by the thread of JMX.
 */
public final class MetricsBean implements DynamicMBean, AutoCloseable {
    private final MetricsSource source;
    private final ObjectName name;

    private MetricsBean(MetricsSource source, ObjectName name) {
        this.source = source;
        this.name = name;
    }

    /**
     * Registers a bean.
     *
     * @return the bean; the caller closes it.
     * @throws FabricException {@code FI_EADDRINUSE} if the process has one of that name.
     */
    public static MetricsBean register(String name, MetricsSource source) {
        try {
            MetricsBean bean = new MetricsBean(source, new ObjectName("org.jfabric:type=Driver,name=" + name));
            ManagementFactory.getPlatformMBeanServer().registerMBean(bean, bean.name);
            return bean;
        } catch (JMException ex) {
            throw new FabricException(FabricErrno.EADDRINUSE, "the metrics have no MBean: " + ex.getMessage(),
                "Set " + MetricsConfig.JMX_NAME.name() + " to another name for each driver of a process.", ex);
        }
    }

    @Override
    public MBeanInfo getMBeanInfo() {
        MBeanAttributeInfo[] attributes = samples().entrySet().stream().map(sample -> {
            String family = sample.getKey().replaceFirst("(?s)\\{.*", "").replaceFirst("_(total|info|count|sum)$", "");
            return new MBeanAttributeInfo(sample.getKey(), sample.getValue().getClass().getName(),
                String.valueOf(OpenMetricsText.help(family)), true, false, false);
        }).toArray(MBeanAttributeInfo[]::new);
        return new MBeanInfo(MetricsBean.class.getName(), "The metrics of a driver of JFabric.", attributes, null, null,
            null);
    }

    private Map<String, Number> samples() {
        List<Metric> metrics = source.read();
        return metrics == null ? Map.of() : OpenMetricsText.samples(metrics);
    }

    @Override
    public Object getAttribute(String attribute) throws AttributeNotFoundException {
        Number value = samples().get(attribute);
        if (value == null) {
            throw new AttributeNotFoundException("there is no metric " + attribute + " now");
        }
        return value;
    }

    @Override
    public AttributeList getAttributes(String[] attributes) {
        Map<String, Number> samples = samples();
        AttributeList found = new AttributeList();
        for (String attribute : attributes) {
            if (samples.containsKey(attribute)) {
                found.add(new Attribute(attribute, samples.get(attribute)));
            }
        }
        return found;
    }

    @Override
    public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
        throw new AttributeNotFoundException(attribute.getName() + " cannot be set");
    }

    @Override
    public AttributeList setAttributes(AttributeList attributes) {
        return new AttributeList();
    }

    @Override
    public Object invoke(String action, Object[] arguments, String[] signature) {
        throw new UnsupportedOperationException("there is no operation " + action);
    }

    @Override
    public void close() {
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
        } catch (JMException alreadyGone) {
            return;
        }
    }
}
