"use strict";

/*
 * Draws the clients, endpoints and peers of a driver as SVG: three columns with edges where there is room, a tree of
 * rows where there is little. The places follow from the ids and addresses alone, so that nothing moves while rates
 * change.
 */
const Graph = (() => {
    const NS = "http://www.w3.org/2000/svg";
    const MARKS = {idle: "\u25cb", flowing: "\u25cf", waiting: "\u25d0", stuck: "\u25a0", down: "\u2715"};
    const ORDER = ["idle", "flowing", "waiting", "stuck", "down"];
    const BOX_HEIGHT = 42;
    const GAP = 10;
    const HEAD = 22;
    const MOST_ENDPOINTS = 40;
    const MOST_PEERS = 60;
    const COLUMNS_FROM = 700;
    const measuring = document.createElement("canvas").getContext("2d");

    function element(name, attributes, text) {
        const created = document.createElementNS(NS, name);
        for (const [key, value] of Object.entries(attributes)) {
            created.setAttribute(key, value);
        }
        if (text !== undefined) {
            created.textContent = text;
        }
        return created;
    }

    /* A text that fits into a width; a longer one loses its middle. */
    function fitted(text, width, size) {
        measuring.font = size + "px system-ui, sans-serif";
        if (measuring.measureText(text).width <= width) {
            return text;
        }
        let kept = text.length - 1;
        let cut = text;
        while (kept > 2 && measuring.measureText(cut).width > width) {
            kept--;
            cut = text.slice(0, Math.ceil(kept / 3)) + "\u2026" + text.slice(text.length - Math.floor(2 * kept / 3));
        }
        return cut;
    }

    /* Addresses of a driver's own endpoints are shown without its name. */
    function short(address, driver) {
        const own = "jfabric://" + driver.name + "/";
        return address.startsWith(own) ? address.slice(own.length) : address.replace(/^jfabric:\/\//, "");
    }

    function messages(node) {
        const rates = node.rates;
        if (rates.sent_messages === undefined) {
            return "";
        }
        return Figures.number(rates.sent_messages + rates.received_messages) + " msg/s";
    }

    /* What waits in a node, in words. */
    function queued(node) {
        const words = [];
        const add = (name, word) => node.values[name] ? words.push(Figures.number(node.values[name]) + " " + word) : 0;
        add("waiting_sends", "sends wait");
        add("waiting_messages", "unread");
        return words.join(", ");
    }

    function words(state, ...more) {
        return [MARKS[state] + " " + state, ...more].filter((word) => word !== "").join(" \u00b7 ");
    }

    function box(node, x, y, width) {
        const group = element("g", {});
        group.append(
            element("title", {}, node.title),
            element("rect", {x, y, width, height: BOX_HEIGHT, rx: 5, class: "box " + (node.state ?? "client")}),
            element("text", {x: x + 9, y: y + 17}, fitted(node.name, width - 18, 13)),
            element("text", {x: x + 9, y: y + 34, class: "word small " + (node.state ?? "")},
                fitted(node.words, width - 18, 11.5)));
        return group;
    }

    function clientNode(driver, id) {
        const client = driver.clients.find((each) => each.id === id);
        const endpoints = driver.endpoints.filter((each) => each.client === id).length;
        const name = client && client.name ? client.name : "client " + id;
        const process = client ? "process " + client.pid : "no longer attached";
        return {
            name, words: process + " \u00b7 " + endpoints + (endpoints === 1 ? " endpoint" : " endpoints"),
            title: "client " + id + " " + name + ", " + process,
        };
    }

    function endpointNode(driver, endpoint) {
        return {
            name: short(endpoint.address, driver), state: endpoint.state,
            words: words(endpoint.state, messages(endpoint), queued(endpoint)),
            title: endpoint.address + ", " + endpoint.state,
        };
    }

    /* Peers of several endpoints are one node with the worst state. */
    function peerNode(driver, address, ties) {
        const worst = ties.map(({peer}) => peer.state).sort((a, b) => ORDER.indexOf(b) - ORDER.indexOf(a))[0];
        const sum = (from, name) => ties.reduce((total, {peer}) => total + (peer[from][name] ?? 0), 0);
        const all = {
            rates: ties[0].peer.rates.sent_messages === undefined ? {}
                : {sent_messages: sum("rates", "sent_messages"), received_messages: sum("rates", "received_messages")},
            values: {
                waiting_sends: sum("values", "waiting_sends"), waiting_messages: sum("values", "waiting_messages"),
            },
        };
        const links = [...new Set(ties.map(({peer}) => peer.link))].join(", ");
        return {
            name: short(address, driver), state: worst, words: words(worst, links, messages(all), queued(all)),
            title: address + " by " + links + ", " + worst,
        };
    }

    function edge(tie, from, to) {
        const half = (from[0] + to[0]) / 2;
        const rates = tie.peer.rates;
        const rate = (rates.sent_messages ?? 0) + (rates.received_messages ?? 0);
        return element("path", {
            d: "M" + from + " C" + half + "," + from[1] + " " + half + "," + to[1] + " " + to,
            class: "edge " + tie.peer.state, "stroke-width": (1.3 + 0.45 * Math.log10(1 + rate)).toFixed(2),
        });
    }

    /* The ties between endpoints and peers, by peer; peers in the order of their endpoints' places. */
    function peersOf(endpoints) {
        const byAddress = new Map();
        endpoints.forEach((endpoint, place) => endpoint.peers.forEach((peer) => {
            const ties = byAddress.get(peer.address) ?? [];
            ties.push({endpoint, place, peer});
            byAddress.set(peer.address, ties);
        }));
        const mean = (ties) => ties.reduce((sum, {place}) => sum + place, 0) / ties.length;
        return [...byAddress].sort(([a, x], [b, y]) => mean(x) - mean(y) || (a < b ? -1 : 1));
    }

    function columns(driver, endpoints, width) {
        const peers = peersOf(endpoints).slice(0, MOST_PEERS);
        const step = BOX_HEIGHT + GAP;
        const height = HEAD + Math.max(1, endpoints.length, peers.length) * step;
        const widths = [0.22, 0.3, 0.32].map((share) => Math.floor(share * width));
        const lefts = [1, Math.floor(0.3 * width), width - widths[2] - 1];
        const svg = element("svg", {viewBox: "0 0 " + width + " " + height, height});
        ["clients", "endpoints", "peers"].forEach((title, index) =>
            svg.append(element("text", {x: lefts[index], y: 13, class: "column"}, title)));
        const spread = (count, index) => HEAD + (height - HEAD - count * step) / 2 + index * step;
        const endpointY = endpoints.map((each, index) => spread(endpoints.length, index));
        const clients = [...new Set(endpoints.map((endpoint) => endpoint.client))];
        const lines = element("g", {});
        const boxes = element("g", {});
        for (const id of clients) {
            const own = endpoints.flatMap((endpoint, index) => endpoint.client === id ? [endpointY[index]] : []);
            const y = (own[0] + own[own.length - 1]) / 2;
            boxes.append(box(clientNode(driver, id), lefts[0], y, widths[0]));
            own.forEach((to) => lines.append(element("path", {
                d: "M" + (lefts[0] + widths[0]) + "," + (y + BOX_HEIGHT / 2) + " L" + lefts[1] + ","
                    + (to + BOX_HEIGHT / 2), class: "guide",
            })));
        }
        endpoints.forEach((endpoint, index) =>
            boxes.append(box(endpointNode(driver, endpoint), lefts[1], endpointY[index], widths[1])));
        peers.forEach(([address, ties], index) => {
            const y = spread(peers.length, index);
            boxes.append(box(peerNode(driver, address, ties), lefts[2], y, widths[2]));
            ties.forEach((tie) => lines.append(edge(tie,
                [lefts[1] + widths[1], endpointY[tie.place] + BOX_HEIGHT / 2], [lefts[2], y + BOX_HEIGHT / 2])));
        });
        svg.append(lines, boxes);
        return svg;
    }

    function tree(driver, endpoints, width) {
        const rows = [];
        let client = null;
        let peers = 0;
        for (const endpoint of endpoints) {
            if (endpoint.client !== client) {
                client = endpoint.client;
                rows.push({depth: 0, node: clientNode(driver, client)});
            }
            rows.push({depth: 1, node: endpointNode(driver, endpoint)});
            for (const peer of endpoint.peers) {
                if (peers++ < MOST_PEERS) {
                    rows.push({depth: 2, node: peerNode(driver, peer.address, [{peer}]), tie: {peer}});
                }
            }
        }
        const step = BOX_HEIGHT + 6;
        const indent = 20;
        const svg = element("svg", {viewBox: "0 0 " + width + " " + rows.length * step, height: rows.length * step});
        const parents = [];
        rows.forEach(({depth, node, tie}, index) => {
            const y = index * step + 1;
            parents[depth] = y;
            if (depth > 0) {
                const x = (depth - 1) * indent + indent / 2;
                svg.append(element("path", {
                    d: "M" + x + "," + (parents[depth - 1] + BOX_HEIGHT) + " V" + (y + BOX_HEIGHT / 2) + " H"
                        + depth * indent,
                    class: tie ? "edge " + tie.peer.state : "guide",
                }));
            }
            svg.append(box(node, depth * indent + 1, y, width - depth * indent - 2));
        });
        return svg;
    }

    /* The graph of a driver; null if it has no endpoint. */
    function draw(driver, width) {
        if (driver.endpoints.length === 0) {
            return null;
        }
        const endpoints = driver.endpoints.slice(0, MOST_ENDPOINTS);
        const svg = (width >= COLUMNS_FROM ? columns : tree)(driver, endpoints, width);
        svg.setAttribute("class", "graph");
        svg.setAttribute("role", "img");
        svg.setAttribute("aria-label", driver.clients.length + " clients and " + driver.endpoints.length
            + " endpoints of driver " + driver.name + " with their peers; the table of endpoints has the same as text");
        return svg;
    }

    return {draw, short, MARKS, ORDER, MOST_ENDPOINTS};
})();
