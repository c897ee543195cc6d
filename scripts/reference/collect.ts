import { dashboard } from '@tenure/dashboard'
import type { Listening, Route } from '@tenure/http'
import { httpServer } from '@tenure/http'
import { leases } from '@tenure/leases/kind'
import {
  configure,
  createMetrics,
  type HistogramInstrument,
  type Instrument,
  type Metrics,
  type Operator,
  type OperatorServer,
} from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'
import { webhookMetrics } from '../../packages/runtime/src/webhooks/webhook-metrics.ts'
import type { Webhook } from '../../packages/runtime/src/webhooks/webhook.ts'
import { operators } from '../../packages/tenure/src/loaded-operators.ts'
import { InProcessFloor } from '../../test/floors/index.ts'

export interface MetricFacts {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
}

/** The metrics and routes of a running operator. */
export interface OperatorFacts {
  readonly name: string
  readonly summary: string
  readonly metrics: readonly MetricFacts[]
  readonly routes: readonly Route[]
  /** Its OpenAPI document. */
  readonly openapi: unknown
}

/** Settings without which an operator does not start, or needs more than this process. */
const SETTINGS: Readonly<Record<string, object>> = {
  claims: { apiAddr: '0' },
  databases: { dbHost: '/nonexistent' },
  leases: { group: 'apps', version: 'v1', kind: 'Deployment' },
}

/** Runs each operator on an embedded control plane of its own, and returns what it registers. */
export async function collectFacts(): Promise<readonly OperatorFacts[]> {
  const facts: OperatorFacts[] = []
  for (const operator of [...operators, leases]) facts.push(await collect(operator))
  return facts
}

async function collect(operator: Operator): Promise<OperatorFacts> {
  const floor = await InProcessFloor.enter()
  try {
    const recorded = new Map<string, MetricFacts>()
    const metrics = recording(await createMetrics({ processMetrics: false }), recorded)
    // Without an API server that could call them, webhooks are not served.
    webhookMetrics(metrics, { path: '/' } as Webhook)
    const routes: Route[] = []
    const capture: OperatorServer = {
      create: (running) => {
        routes.push(...running.flatMap(({ parts }) => parts.routes ?? []))
        return { name: 'capture', start: () => Promise.resolve(), stop: () => Promise.resolve() }
      },
    }
    let listening: Listening | undefined
    const settings = { ...defaultValues(operator.config), ...operator.embedded, ...SETTINGS[operator.name] }
    const running = await floor.runOperators({
      operators: [configure(operator, settings)],
      servers: [
        capture,
        httpServer({ address: '127.0.0.1:0', extend: dashboard, onListening: (where) => (listening = where) }),
      ],
      metrics,
      gracePeriod: 1_000,
    })
    const { url } = await floor.until('the API listens', () => listening)
    let openapi: unknown
    void fetch(`${url}/openapi.json`).then(async (response) => (openapi = await response.json()))
    await floor.until('the document is there', () => openapi)
    // Controllers, elections and what an operator runs by itself begin one after the other.
    for (let seconds = 0; seconds < WARM_UP_SECONDS; seconds++) await floor.pass(1_000)
    await running.stop()
    return {
      name: operator.name,
      summary: operator.summary,
      metrics: [...recorded.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      routes,
      openapi,
    }
  } finally {
    await floor.leave()
  }
}

/** Virtual seconds. */
const WARM_UP_SECONDS = 20

/** Remembers every instrument that is requested. */
function recording(metrics: Metrics, into: Map<string, MetricFacts>): Metrics {
  const note = (type: MetricFacts['type'], { name, help, labels = [] }: Instrument): void => {
    into.set(name, { name, type, help, labels })
  }
  return {
    counter: (instrument) => {
      note('counter', instrument)
      return metrics.counter(instrument)
    },
    gauge: (instrument) => {
      note('gauge', instrument)
      return metrics.gauge(instrument)
    },
    histogram: (instrument: HistogramInstrument) => {
      note('histogram', instrument)
      return metrics.histogram(instrument)
    },
    onCollect: (collect) => metrics.onCollect(collect),
    expose: () => metrics.expose(),
  }
}
