import { createMetrics } from '@tenure/runtime'
import type { MetricFacts, OperatorFacts } from './collect.ts'
import { code, table } from './markdown.ts'

const INTRODUCTION = `# Metrics

Generated from what the running operators register, by \`npm run reference\`: do not edit. \`/metrics\` serves them in Prometheus' text format.
The names of the runtime's own metrics are those of controller-runtime and client-go; the operators' are those of the originals, so dashboards and alerts
for either keep working.
`

interface Section {
  readonly title: string
  readonly text: string
  matches(name: string): boolean
}

/** Metrics of parts that several operators have. */
const SHARED: readonly Section[] = [
  {
    title: 'The runtime',
    text: 'Controllers, queues, caches, elections and the client of every operator.',
    matches: (name) =>
      /^(?:controller_runtime_(?!webhook)|leader_election_(?:master|slowpath)|rest_client_|tenure_|workqueue_)/.test(
        name,
      ),
  },
  { title: 'HTTP API', text: 'Of every operator with HTTP routes.', matches: (name) => name.startsWith('http_') },
  {
    title: 'Webhooks',
    text: 'Of every operator with admission webhooks.',
    matches: (name) => name.startsWith('controller_runtime_webhook_'),
  },
]

/** Returns the reference page of all metrics. */
export async function metricsReference(facts: readonly OperatorFacts[]): Promise<string> {
  const all = new Map(facts.flatMap(({ metrics }) => metrics).map((metric) => [metric.name, metric]))
  const isShared = (name: string): boolean => SHARED.some((each) => each.matches(name))
  const shared = SHARED.map(({ title, text, matches }) => section(title, text, pick(all, matches)))
  const shown = new Set<string>()
  const own = facts.map(({ metrics, summary }) => {
    const rest = metrics.filter(({ name }) => !isShared(name) && !shown.has(name))
    for (const { name } of rest) shown.add(name)
    // Several operators may share metrics: a lease controller has the same in its own process.
    const owners = facts.filter((other) => other.metrics.some(({ name }) => name === rest[0]?.name))
    return section(owners.map(({ name }) => `tenure ${name}`).join(', '), summary, rest)
  })
  return [INTRODUCTION, ...shared, ...own, await processSection()].filter(Boolean).join('\n')
}

function pick(all: ReadonlyMap<string, MetricFacts>, matches: (name: string) => boolean): readonly MetricFacts[] {
  return [...all.values()].filter(({ name }) => matches(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function section(title: string, text: string, metrics: readonly MetricFacts[]): string {
  if (metrics.length === 0) return ''
  const rows = metrics.map(({ help, labels, name, type }) => [code(name), type, labels.map(code).join(', '), help])
  return `## ${title}\n\n${text}\n\n${table(['Metric', 'Type', 'Labels', 'Meaning'], rows)}`
}

/** Those of the process, which Prometheus' client for Node registers. */
async function processSection(): Promise<string> {
  const { text } = await (await createMetrics()).expose()
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]))
  const rows = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', help = '']) => [
    code(name),
    types.get(name) ?? '',
    '',
    help,
  ])
  const sorted = rows.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
  return `## The process\n\nOf every process, by Prometheus' client for Node.\n\n${table(['Metric', 'Type', 'Labels', 'Meaning'], sorted)}`
}
