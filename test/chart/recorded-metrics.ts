import { createMetrics, type HistogramInstrument, type Instrument, type Metrics } from '@tenure/runtime'

/** A metric that the code exports. */
export interface ExportedMetric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
}

/** Metrics that remember what the code exports through them. */
export class RecordedMetrics implements Metrics {
  readonly #metrics: Metrics
  readonly #exported = new Map<string, ExportedMetric>()

  private constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  static async create(): Promise<RecordedMetrics> {
    return new RecordedMetrics(await createMetrics())
  }

  /** By name, with the metrics of the process. */
  async exported(): Promise<ReadonlyMap<string, ExportedMetric>> {
    const { text } = await this.expose()
    const ofProcess = [...text.matchAll(/^# TYPE ((?:process|nodejs)_\w+) (counter|gauge|histogram)$/gm)].map(
      ([, name = '', type]): [string, ExportedMetric] => [name, { type: type as ExportedMetric['type'], labels: [] }],
    )
    return new Map([...this.#exported, ...ofProcess])
  }

  counter(instrument: Instrument): ReturnType<Metrics['counter']> {
    this.#record('counter', instrument)
    return this.#metrics.counter(instrument)
  }

  gauge(instrument: Instrument): ReturnType<Metrics['gauge']> {
    this.#record('gauge', instrument)
    return this.#metrics.gauge(instrument)
  }

  histogram(instrument: HistogramInstrument): ReturnType<Metrics['histogram']> {
    this.#record('histogram', instrument)
    return this.#metrics.histogram(instrument)
  }

  onCollect(collect: () => void): () => void {
    return this.#metrics.onCollect(collect)
  }

  expose(): ReturnType<Metrics['expose']> {
    return this.#metrics.expose()
  }

  #record(type: ExportedMetric['type'], { name, labels = [] }: Instrument): void {
    this.#exported.set(name, { type, labels })
  }
}
