// Parsing of Toxiproxy's counters; the text is as 2.12.0 serves it.
import { expect, it } from 'vitest';

import { countersOf } from './toxiproxy-metrics.js';

const METRICS = `# HELP toxiproxy_proxy_received_bytes_total The total number of bytes received on a given proxy link in a given direction
# TYPE toxiproxy_proxy_received_bytes_total counter
toxiproxy_proxy_received_bytes_total{direction="downstream",listener="127.0.0.1:1",proxy="L0-gateway-redis",upstream="127.0.0.1:2"} 70
toxiproxy_proxy_received_bytes_total{direction="upstream",listener="127.0.0.1:1",proxy="L0-gateway-redis",upstream="127.0.0.1:2"} 1.234567e+06
toxiproxy_proxy_received_bytes_total{direction="upstream",listener="127.0.0.1:1",proxy="L0-gateway-redis",upstream="127.0.0.1:9"} 3
toxiproxy_proxy_received_bytes_total{direction="upstream",listener="127.0.0.1:3",proxy="L10-gateway-redis",upstream="127.0.0.1:2"} 999
toxiproxy_proxy_sent_bytes_total{direction="upstream",listener="127.0.0.1:1",proxy="L0-gateway-redis",upstream="127.0.0.1:2"} 60
`;

it('adds up the series of one proxy over its upstreams', () => {
  expect(countersOf(METRICS, 'L0-gateway-redis')).toEqual({ upstreamReceivedBytes: 1_234_570, upstreamSentBytes: 60, downstreamReceivedBytes: 70, downstreamSentBytes: 0 });
});

it('is zero for a proxy that has ended no connection yet', () => {
  expect(countersOf(METRICS, 'gateway-redis')).toEqual({ upstreamReceivedBytes: 0, upstreamSentBytes: 0, downstreamReceivedBytes: 0, downstreamSentBytes: 0 });
  expect(countersOf('', 'L0-gateway-redis').upstreamSentBytes).toBe(0);
});
