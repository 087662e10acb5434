# The binding's own check of the live libraries and devices, and what discovery makes of it.

self_check() {
    java_options+=(-Djfabric.link.enabled=verbs,verbsrxm)
    fabric info --why
    local status=$?
    unset 'java_options[-1]'
    [ $status -eq 0 ] && grep -q 'verbs: chosen' /tmp/check.log && grep -q 'verbsrxm: chosen' /tmp/check.log
}

smoke check "discovery: self-check of the binding, and what is offered" self_check
