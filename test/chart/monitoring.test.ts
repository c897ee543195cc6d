/** Compares the alerts and the dashboard with the metrics that the code exports. */
import { readFileSync } from 'node:fs'
import path from 'node:path'

import { TestControlPlane } from '@tenure/controlplane/testing'
import { ConfigMap } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { runOperators } from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'
import { allow, validating } from '@tenure/runtime/webhooks'
import { load } from 'js-yaml'
import { beforeAll, expect, test } from 'vitest'

import { DatabaseMetrics } from '../../packages/databases/src/metrics.ts'
import { httpMetrics } from '../../packages/http/src/server/http-metrics.ts'
import { webhookMetrics } from '../../packages/runtime/src/webhooks/webhook-metrics.ts'
import { clusterOperators, operators } from '../../packages/tenure/src/loaded-operators.ts'
import { alertGroups } from '../../scripts/manifests/monitoring/alerts.ts'
import { dashboardRows } from '../../scripts/manifests/monitoring/dashboard.ts'
import { readExpression } from './promql.ts'
import { type ExportedMetric, RecordedMetrics } from './recorded-metrics.ts'
import { renderObjects } from './render.ts'

/** Added by Prometheus when it scrapes a pod. */
const TARGET_LABELS = ['namespace', 'pod', 'job', 'instance', 'service', 'container']

const webhook = validating({
  name: 'check.example.dev',
  path: '/check',
  kind: ConfigMap,
  failurePolicy: 'Fail',
  validate: () => allow(),
})

let exported: ReadonlyMap<string, ExportedMetric>

beforeAll(async () => {
  const metrics = await RecordedMetrics.create()
  await run(metrics)
  httpMetrics(metrics)
  webhookMetrics(metrics, webhook)
  const databases = new DatabaseMetrics(metrics)
  databases.reconciled(true, 1)
  databases.job({ type: 'reject', jobType: 'create', error: '' })
  databases.collector({
    database: { isUp: true, reconnects: 0 },
    rows: () => [],
    retrying: () => 0,
    isListening: () => true,
  })
  exported = await metrics.exported()
})

/** Runs the operators that need no database, until they are elected. */
async function run(metrics: RecordedMetrics): Promise<void> {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1))
  const server = await TestControlPlane.start({ clock })
  const end = new AbortController()
  const kinds = { leases: { group: '', version: 'v1', kind: 'ConfigMap' } }
  const running = [...operators, ...clusterOperators]
    .filter(({ name }) => name !== 'databases')
    .map((operator) => ({
      operator,
      settings: { ...defaultValues(operator.config), ...(operator.name === 'leases' && kinds.leases) },
    }))
  const ended = runOperators(
    { operators: running, transport: server.transport, clock, random: seededRandom(1), metrics, webhooks: 'none' },
    end.signal,
  )
  await clock.advance(30_000)
  end.abort()
  await clock.advance(60_000)
  await ended
  await server.stop()
}

/** The unknown metrics and labels of an expression. */
function problemsOf(text: string): readonly string[] {
  const { grouped, metrics } = readExpression(text)
  const families = metrics.map(({ name, matched }) => {
    const family = exported.get(name)
    const base = name.replace(/_(bucket|sum|count)$/, '')
    const histogram = exported.get(base)
    if (histogram?.type === 'histogram') {
      return { name, matched, labels: [...histogram.labels, ...(name.endsWith('_bucket') ? ['le'] : [])] }
    }
    return { name, matched, labels: family?.labels, type: family?.type }
  })
  return families.flatMap(({ name, matched, labels }) => {
    if (labels === undefined) return [`${name} is not exported`]
    const known = [...labels, ...TARGET_LABELS]
    const wanted = [...matched, ...grouped]
    return wanted.filter((label) => !known.includes(label)).map((label) => `${name} does not have the label ${label}`)
  })
}

const alerts = alertGroups.flatMap(({ alerts: all }) => all)
const targets = dashboardRows.flatMap(({ panels }) =>
  panels.flatMap(({ title, targets: all }) => all.map((target) => ({ title, ...target }))),
)

test.each(alerts)('$alert uses metrics and labels that the code exports', ({ expr, description, summary }) => {
  expect(problemsOf(expr)).toEqual([])
  const { grouped } = readExpression(expr)
  const shown = [...`${summary} ${description}`.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label)
  expect(shown.filter((label) => !grouped.includes(label ?? ''))).toEqual([])
})

test.each(targets)('the panel "$title" uses metrics and labels that the code exports: $expr', ({ expr, legend }) => {
  expect(problemsOf(expr)).toEqual([])
  const { grouped } = readExpression(expr)
  const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label)
  expect(shown.filter((label) => !grouped.includes(label ?? ''))).toEqual([])
})

test('an expression with an unknown metric or label is found', () => {
  expect(problemsOf('sum by (pod, size) (rate(workqueue_depths{name="a"}[5m])) > 0')).toEqual([
    'workqueue_depths is not exported',
  ])
  expect(problemsOf('sum by (size) (rate(workqueue_depth{color="a"}[5m])) > 0')).toEqual([
    'workqueue_depth does not have the label color',
    'workqueue_depth does not have the label size',
  ])
})

const isCounter = (name: string): boolean =>
  exported.get(name)?.type === 'counter' || exported.get(name.replace(/_(bucket|count|sum)$/, ''))?.type === 'histogram'
const isRate = (name: string, expr: string): boolean => new RegExp(String.raw`(rate|increase)\(${name}`).test(expr)

test('counters are used as rates, and histograms by their buckets', () => {
  const uses = [...alerts, ...targets].flatMap(({ expr }) =>
    readExpression(expr).metrics.map(({ name }) => ({ name, expr })),
  )
  expect(uses.filter(({ name, expr }) => isCounter(name) !== isRate(name, expr))).toEqual([])
})

test('the alerts have unique names, and the chart ships the same rules and dashboard', () => {
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
  const folder = path.resolve(import.meta.dirname, '../../deploy/monitoring')
  const objects = renderObjects(
    { monitoring: { dashboard: { enabled: true } } },
    { apiVersions: ['monitoring.coreos.com/v1/PrometheusRule'] },
  ) as readonly Readonly<Record<string, unknown>>[]
  const rules = load(readFileSync(path.join(folder, 'rules.yaml'), 'utf8'))
  expect(objects.find(({ kind }) => kind === 'PrometheusRule')?.['spec']).toEqual(rules)
  const dashboard = readFileSync(path.join(folder, 'dashboard.json'), 'utf8')
  const configMap = objects.find(({ metadata }) => (metadata as { name: string }).name === 'tenure-dashboard')
  expect(configMap?.['data']).toEqual({ 'tenure.json': dashboard })
  const panels = (JSON.parse(dashboard) as { panels: readonly { id: number }[] }).panels
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
})
