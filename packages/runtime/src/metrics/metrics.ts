export type Labels = Readonly<Record<string, string>>

export interface Instrument {
  readonly name: string
  readonly help: string
  /** Label names. Default none. */
  readonly labels?: readonly string[]
}

export interface HistogramInstrument extends Instrument {
  /** Upper bounds in rising order. Default: Prometheus' own, 5 ms to 10 s. */
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
}

/** A family of series; `with` picks one and is cheap to keep. */
export interface Family<S> {
  with(labels: Labels): S
  /** Forgets one series, so that what is gone is no longer reported. */
  remove(labels: Labels): void
}

/**
 * Where numbers go. Asking twice for one name gives the same family. `createMetrics` makes one that Prometheus reads;
 * `noMetrics` drops everything.
 */
export interface Metrics {
  counter(instrument: Instrument): Family<Counter>
  gauge(instrument: Instrument): Family<Gauge>
  histogram(instrument: HistogramInstrument): Family<Histogram>
  /** Called before each exposition, for gauges that are read off something. Returns what ends that. */
  onCollect(collect: () => void): () => void
  /** The Prometheus text format. */
  expose(): Promise<{ readonly contentType: string; readonly text: string }>
}

const nothing = { inc: () => undefined, dec: () => undefined, set: () => undefined, observe: () => undefined }
const noFamily = { with: () => nothing, remove: () => undefined }

/** Measures nothing. */
export const noMetrics: Metrics = {
  counter: () => noFamily,
  gauge: () => noFamily,
  histogram: () => noFamily,
  onCollect: () => () => undefined,
  expose: () => Promise.resolve({ contentType: 'text/plain', text: '' }),
}
