import { TenureError, asError } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import { formatHead, formatLabels, formatNumber } from './text-format.ts'
import type { Family, HistogramInstrument, HistogramSnapshot, Instrument, MetricLabels, Metrics } from './metrics.ts'

export interface CreateMetricsOptions {
  /** Report CPU, memory, file descriptors, event loop and garbage collection of this process. Default true. */
  readonly processMetrics?: boolean
  /** Default: no logs. */
  readonly log?: Logger
}

/** Prometheus' default buckets, in seconds. */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** A series counts with plain arithmetic and is formatted only on exposition. */
interface Series {
  text(name: string, labels: MetricLabels): string
}

class Value implements Series {
  #value = 0

  inc(value = 1): void {
    this.#value += value
  }

  dec(value = 1): void {
    this.#value -= value
  }

  set(value: number): void {
    this.#value = value
  }

  text(name: string, labels: MetricLabels): string {
    return `${name}${formatLabels(labels)} ${formatNumber(this.#value)}\n`
  }
}

class CounterValue extends Value {
  override inc(value = 1): void {
    if (!(value >= 0))
      throw new TenureError('TENURE_METRIC_VALUE', 'A counter cannot decrease; use a gauge.', { fate: 'bug' })
    super.inc(value)
  }
}

class HistogramValue implements Series {
  readonly #bounds: readonly number[]
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] ?? Infinity)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#sum += value
  }

  snapshot(): HistogramSnapshot {
    let count = 0
    const counts = Array.from(this.#counts, (own) => (count += own))
    return { le: this.#bounds, counts, sum: this.#sum, count }
  }

  text(name: string, labels: MetricLabels): string {
    const { count, counts, sum } = this.snapshot()
    let text = ''
    counts.forEach((total, bucket) => {
      const le = formatNumber(this.#bounds[bucket] ?? Infinity)
      text += `${name}_bucket${formatLabels({ ...labels, le })} ${total}\n`
    })
    const suffix = formatLabels(labels)
    return `${text}${name}_sum${suffix} ${formatNumber(sum)}\n${name}_count${suffix} ${count}\n`
  }
}

class SeriesFamily<S extends Series> implements Family<S> {
  readonly type: string
  readonly #instrument: Instrument
  readonly #names: readonly string[]
  readonly #make: () => S
  readonly #series = new Map<string, { readonly labels: MetricLabels; readonly value: S }>()

  constructor(type: string, instrument: Instrument, make: () => S) {
    this.type = type
    this.#instrument = instrument
    this.#names = instrument.labels ?? []
    this.#make = make
    // A family without labels reports 0 from the start.
    if (this.#names.length === 0) this.with({})
  }

  with(labels: MetricLabels): S {
    const key = this.#keyOf(labels)
    const known = this.#series.get(key)
    if (known) return known.value
    const value = this.#make()
    this.#series.set(key, { labels: { ...labels }, value })
    return value
  }

  remove(labels: MetricLabels): void {
    this.#series.delete(this.#keyOf(labels))
  }

  text(): string {
    const { name, help } = this.#instrument
    let text = formatHead(name, this.type, help)
    for (const { labels, value } of this.#series.values()) text += value.text(name, labels)
    return text
  }

  #keyOf(labels: MetricLabels): string {
    const values = this.#names.map((name) => labels[name])
    if (values.includes(undefined) || Object.keys(labels).length !== values.length) {
      throw new TenureError(
        'TENURE_METRIC_LABELS',
        `Metric ${this.#instrument.name} has the labels [${this.#names.join(', ')}], got [${Object.keys(labels).join(', ')}].`,
        { fate: 'bug' },
      )
    }
    return values.length === 1 ? (values[0] ?? '') : JSON.stringify(values)
  }
}

/**
 * Creates metrics in the Prometheus text format. An increment costs a few nanoseconds. Process metrics come from
 * Prometheus' client, which is loaded on the first exposition: a process that is not scraped does not pay for it.
 */
export function createMetrics(options: CreateMetricsOptions = {}): Promise<Metrics> {
  return Promise.resolve(prometheusMetrics(options))
}

function prometheusMetrics(options: CreateMetricsOptions): Metrics {
  const log = options.log ?? silentLogger
  const families = new Map<string, SeriesFamily<Series>>()
  const collectors = new Set<() => void>()
  let processText: Promise<() => Promise<string>> | undefined

  const family = <S extends Series>(type: string, instrument: Instrument, make: () => S): Family<S> => {
    const known = families.get(instrument.name)
    if (known && known.type !== type) {
      throw new TenureError('TENURE_METRIC_TYPE', `Metric ${instrument.name} is already a ${known.type}.`, {
        fate: 'bug',
      })
    }
    // A name has one type, so the series match the requested one.
    if (known) return known as SeriesFamily<S>
    const made = new SeriesFamily(type, instrument, make)
    families.set(instrument.name, made)
    return made
  }

  return {
    counter: (instrument) => family('counter', instrument, () => new CounterValue()),
    gauge: (instrument) => family('gauge', instrument, () => new Value()),
    histogram: (instrument: HistogramInstrument) => {
      const buckets = [...(instrument.buckets ?? DEFAULT_BUCKETS)]
      return family('histogram', instrument, () => new HistogramValue(buckets))
    },
    onCollect(collect) {
      collectors.add(collect)
      return () => void collectors.delete(collect)
    },
    async expose() {
      for (const collect of collectors) {
        try {
          collect()
        } catch (error) {
          log.error('failed to collect a metric', { error: asError(error) })
        }
      }
      let text = ''
      for (const each of families.values()) text += each.text()
      if (options.processMetrics ?? true) {
        processText ??= processMetrics()
        text += await (await processText)()
      }
      return { contentType: 'text/plain; version=0.0.4; charset=utf-8', text }
    },
  }
}

/**
 * Milliseconds between samples of the event loop: the package's defaults (10 and 100 samples per second) keep an idle
 * process awake.
 */
const EVENT_LOOP_SAMPLING = { eventLoopMonitoringPrecision: 100, eventLoopUtilizationTimeout: 5_000 }

async function processMetrics(): Promise<() => Promise<string>> {
  const { Registry, collectDefaultMetrics } = await import('@prometheus-io/client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, ...EVENT_LOOP_SAMPLING })
  return async () => `${await registry.metrics()}\n`
}
