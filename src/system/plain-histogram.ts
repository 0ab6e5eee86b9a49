/**
 * A histogram whose observations cost two additions: prom-client looks its series up by a text put together from all labels at every single one, which was the larger part
 * of what the gateway's own metrics cost. Shown by prom-client's registry like its own.
 */
import type { Histogram, Registry } from 'prom-client';

import type { HistogramRecorder, MetricLabels } from './role-metrics.js';

interface Series {
  readonly labels: MetricLabels;
  /** Observations per bucket, each in the first one that holds it; the last is beyond all bounds. */
  readonly counts: Float64Array;
  sum: number;
}

/** One line of the text. */
interface ShownValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  /** Of the whole series. */
  readonly sharedLabels: MetricLabels;
  readonly value: number;
}

/** What the registry asks a metric for. */
interface ShownMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'histogram';
  readonly aggregator: 'sum';
  readonly values: readonly ShownValue[];
}

export class PlainHistogram {
  readonly name: string;
  readonly #help: string;
  /** Upper bounds, ascending. */
  readonly #bounds: readonly number[];
  readonly #series: Series[] = [];

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name;
    this.#help = help;
    this.#bounds = bounds;
  }

  /** A new series of these labels, shown with 0 from now on. The caller asks once per labels. */
  series(labels: MetricLabels): HistogramRecorder {
    const bounds = this.#bounds;
    const series: Series = { labels, counts: new Float64Array(bounds.length + 1), sum: 0 };
    this.#series.push(series);
    return {
      observe(value) {
        let bucket = 0;
        // Few bounds, and most values lie in the first ones.
        while (bucket < bounds.length && value > (bounds[bucket] ?? Infinity)) bucket += 1;
        series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
        series.sum += value;
      },
    };
  }

  get(): Promise<ShownMetric> {
    return Promise.resolve({ name: this.name, help: this.#help, type: 'histogram', aggregator: 'sum', values: this.#series.flatMap((series) => this.#shown(series)) });
  }

  #shown({ labels, counts, sum }: Series): ShownValue[] {
    const { name } = this;
    let below = 0;
    const buckets = [...this.#bounds, Infinity].map((bound, index) => {
      below += counts[index] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le: bound === Infinity ? '+Inf' : bound }, sharedLabels: labels, value: below };
    });
    return [...buckets, { metricName: `${name}_sum`, labels: {}, sharedLabels: labels, value: sum }, { metricName: `${name}_count`, labels: {}, sharedLabels: labels, value: below }];
  }

  /** The registry asks for no more than `name` and `get`, whatever its types say. */
  registerAt(registry: Registry): void {
    registry.registerMetric(this as unknown as Histogram);
  }
}
