/**
 * Metrics of one role process: thin factories over a prom-client registry of its own, so that several roles can live in one process and
 * no module keeps global state. Names follow paper `000` §12, with Prometheus units (`_seconds`, `_total`).
 *
 * Label values come from closed lists (codes, stores, operations). Never a user or request id: that is one time series a buyer.
 */
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';

import { PlainHistogram } from './plain-histogram.js';

export type MetricLabels = Readonly<Record<string, string>>;

export interface CounterRecorder {
  /** Adds 1, or `by` ≥ 0. */
  add(by?: number): void;
}

export interface GaugeRecorder {
  set(value: number): void;
}

export interface HistogramRecorder {
  /** In the unit of the name; seconds by convention. */
  observe(value: number): void;
}

/**
 * Each factory binds its labels once, outside of the hot path; a counter or histogram is shown from then on, with 0. Asking twice for the same name and labels gives the same series; every
 * use of a name must carry the same label names (prom-client throws otherwise: a bug).
 */
export interface RoleMetrics {
  counter(name: string, help: string, labels?: MetricLabels): CounterRecorder;
  gauge(name: string, help: string, labels?: MetricLabels): GaugeRecorder;
  histogram(name: string, help: string, labels?: MetricLabels, buckets?: readonly number[]): HistogramRecorder;
  /** Called before each scrape: for gauges that are cheap to compute and pointless to keep up to date in between. Must not throw. */
  beforeText(refresh: () => void): void;
  /** The body of `/metrics`. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** Seconds; fine where the promises lie (100 ms for an answer, 3 s for an order). */
export const DURATION_BUCKETS_SECONDS: readonly number[] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 10];

/**
 * A recorder with a registry of its own. Every series carries `role` and `instance`, and `labels` where given.
 * `processMetrics` adds CPU, memory and event-loop lag of the process: once per process, not per role.
 */
export function createRoleMetrics(role: string, instance: string, options: { readonly processMetrics?: boolean; readonly labels?: MetricLabels } = {}): RoleMetrics {
  const registry = new Registry();
  registry.setDefaultLabels({ role, instance, ...options.labels });
  const refreshes: (() => void)[] = [];
  const counters = new Map<string, PlainCounter>();
  const histograms = new Map<string, PlainHistogram>();
  const histogramSeries = new Map<string, HistogramRecorder>();
  if (options.processMetrics === true) collectDefaultMetrics({ register: registry });

  const known = <M>(name: string, make: () => M): M => (registry.getSingleMetric(name) as M | undefined) ?? make();
  function histogramOf(name: string, help: string, buckets: readonly number[]): PlainHistogram {
    const histogram = new PlainHistogram(name, help, buckets);
    histogram.registerAt(registry);
    histograms.set(name, histogram);
    return histogram;
  }
  return {
    contentType: registry.contentType,
    counter(name, help, labels = {}) {
      const metric = known(name, () => new Counter({ name, help, labelNames: Object.keys(labels), registers: [registry] }));
      return getOrMake(counters, seriesKey(name, labels), () => {
        const series = metric.labels(labels);
        // From the first scrape on: what never happened is 0 and not missing, and `increase` sees the first time.
        series.inc(0);
        return new PlainCounter((by) => { series.inc(by); });
      });
    },
    gauge(name, help, labels = {}) {
      const metric = known(name, () => new Gauge({ name, help, labelNames: Object.keys(labels), registers: [registry] }));
      const series = metric.labels(labels);
      return { set: (value) => { series.set(value); } };
    },
    histogram(name, help, labels = {}, buckets = DURATION_BUCKETS_SECONDS) {
      const histogram = histograms.get(name) ?? histogramOf(name, help, buckets);
      return getOrMake(histogramSeries, seriesKey(name, labels), () => histogram.series(labels));
    },
    beforeText(refresh) {
      refreshes.push(refresh);
    },
    text() {
      for (const refresh of refreshes) refresh();
      for (const counter of counters.values()) counter.flush();
      return registry.metrics();
    },
  };
}

/** A number until the scrape: prom-client's own addition looks its series up by a text of all labels each time. */
class PlainCounter implements CounterRecorder {
  readonly #flushed: (by: number) => void;
  #pending = 0;

  constructor(flushed: (by: number) => void) {
    this.#flushed = flushed;
  }

  add(by = 1): void {
    if (by < 0) throw new Error(`a counter does not go back by ${String(-by)}`);
    this.#pending += by;
  }

  flush(): void {
    if (this.#pending === 0) return;
    this.#flushed(this.#pending);
    this.#pending = 0;
  }
}

function seriesKey(name: string, labels: MetricLabels): string {
  return `${name} ${JSON.stringify(Object.entries(labels).sort())}`;
}

function getOrMake<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const there = map.get(key);
  if (there !== undefined) return there;
  const made = make();
  map.set(key, made);
  return made;
}
