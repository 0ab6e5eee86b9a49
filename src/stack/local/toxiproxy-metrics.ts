/**
 * Reads Toxiproxy's byte counters out of its Prometheus text. Pure.
 *
 * Toxiproxy adds a connection's bytes when that connection ends, one direction at a time (its `link.go`), not as they pass. So they prove
 * a fault that ends connections (a cut, a closed proxy, a removed `timeout`), once it has; they do not show traffic on a connection that
 * lives. Bytes of a direction whose write failed are not added to `sent` at all.
 */
import type { LinkCounters } from '../../facts/targets.js';

const SERIES = /^toxiproxy_proxy_(received|sent)_bytes_total\{([^}]*)\} (\S+)$/;

/**
 * Counters of one proxy. A series appears with its first byte, and a new one after each change of the upstream: what is missing is 0,
 * what is there several times adds up.
 */
export function countersOf(metrics: string, proxy: string): LinkCounters {
  const sums = { upstreamReceivedBytes: 0, upstreamSentBytes: 0, downstreamReceivedBytes: 0, downstreamSentBytes: 0 };
  for (const line of metrics.split('\n')) {
    const match = SERIES.exec(line);
    if (match === null) continue;
    const [, kind, labels, value] = match;
    if (labels === undefined || label(labels, 'proxy') !== proxy) continue;
    const direction = label(labels, 'direction');
    if (direction !== 'upstream' && direction !== 'downstream') continue;
    sums[`${direction}${kind === 'received' ? 'Received' : 'Sent'}Bytes`] += Number(value);
  }
  return sums;
}

function label(labels: string, name: string): string | undefined {
  return new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1];
}
