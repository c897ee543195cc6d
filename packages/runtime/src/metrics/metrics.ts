export type MetricLabels = Readonly<Record<string, string>>

export interface Instrument {
  readonly name: string
  readonly help: string
  /** Label names. Default none. */
  readonly labels?: readonly string[]
}

export interface HistogramInstrument extends Instrument {
  /** Upper bounds in ascending order. Default: Prometheus' own, 5 ms to 10 s. */
  readonly buckets?: readonly number[]
}

export interface Counter {
  /** Default 1. */
  inc(value?: number): void
}

export interface Gauge {
  set(value: number): void
  inc(value?: number): void
  dec(value?: number): void
}

export interface Histogram {
  observe(value: number): void
  /** The observations so far. Without an exposition there are none. */
  snapshot(): HistogramSnapshot
}

export interface HistogramSnapshot {
  /** Upper bounds of the buckets, ascending, without infinity. */
  readonly le: readonly number[]
  /** Observations up to each bound; the last element counts all. */
  readonly counts: readonly number[]
  readonly sum: number
  readonly count: number
}

/** A family of series. Keep the series that `with` returns: using it is cheaper than looking it up again. */
export interface Family<S> {
  with(labels: MetricLabels): S
  /** Drops one series, so that it is no longer reported. */
  remove(labels: MetricLabels): void
}

/**
 * Receives measurements. Requesting a name twice returns the same family. `createMetrics` exposes them to Prometheus;
 * `noMetrics` discards them.
 */
export interface Metrics {
  counter(instrument: Instrument): Family<Counter>
  gauge(instrument: Instrument): Family<Gauge>
  histogram(instrument: HistogramInstrument): Family<Histogram>
  /**
   * Calls `collect` before each exposition, for gauges that are computed on demand. Returns a function that unregisters
   * it.
   */
  onCollect(collect: () => void): () => void
  /** The Prometheus text format. */
  expose(): Promise<{ readonly contentType: string; readonly text: string }>
}

const NO_OBSERVATIONS: HistogramSnapshot = { le: [], counts: [0], sum: 0, count: 0 }
const nothing = {
  inc: () => undefined,
  dec: () => undefined,
  set: () => undefined,
  observe: () => undefined,
  snapshot: () => NO_OBSERVATIONS,
}
const noFamily = { with: () => nothing, remove: () => undefined }

/** Discards everything. */
export const noMetrics: Metrics = {
  counter: () => noFamily,
  gauge: () => noFamily,
  histogram: () => noFamily,
  onCollect: () => () => undefined,
  expose: () => Promise.resolve({ contentType: 'text/plain', text: '' }),
}
