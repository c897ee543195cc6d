interface Target {
  /** PromQL. */
  readonly expr: string
  readonly legend: string
}

interface Panel {
  readonly title: string
  readonly description: string
  /** Of Grafana. Default: `short`. */
  readonly unit?: string
  readonly targets: readonly Target[]
}

interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
}

/** Every expression is limited to the namespaces that the reader chose. */
const IN = 'namespace=~"$namespace"'
const quantile = (part: number, metric: string, by: string): string =>
  `histogram_quantile(${part}, sum by (${by}, le) (rate(${metric}_bucket{${IN}}[$__rate_interval])))`
const rate = (metric: string, by: string, more = ''): string =>
  `sum by (${by}) (rate(${metric}{${IN}${more}}[$__rate_interval]))`

export const dashboardRows: readonly Row[] = [
  {
    title: 'Runtime',
    panels: [
      {
        title: 'Leaders',
        description: 'The pod that leads each election.',
        targets: [
          { expr: `max by (name, pod) (leader_election_master_status{${IN}}) == 1`, legend: '{{name}}: {{pod}}' },
        ],
      },
      {
        title: 'Reconciliations',
        description: 'Per second, by controller and result.',
        unit: 'ops',
        targets: [
          {
            expr: rate('controller_runtime_reconcile_total', 'controller, result'),
            legend: '{{controller}} {{result}}',
          },
        ],
      },
      {
        title: 'Time of reconciliations',
        description: 'The 99th percentile, by controller.',
        unit: 's',
        targets: [
          { expr: quantile(0.99, 'controller_runtime_reconcile_time_seconds', 'controller'), legend: '{{controller}}' },
        ],
      },
      {
        title: 'Keys that wait',
        description: 'The depth of each queue.',
        targets: [{ expr: `max by (pod, name) (workqueue_depth{${IN}})`, legend: '{{pod}} {{name}}' }],
      },
      {
        title: 'Requests to the API server',
        description: 'Per second, by status code.',
        unit: 'reqps',
        targets: [{ expr: rate('rest_client_requests_total', 'code'), legend: '{{code}}' }],
      },
      {
        title: 'Watches restarted and failed',
        description: 'Per second, by kind.',
        targets: [
          { expr: rate('tenure_informer_watch_restarts_total', 'kind'), legend: '{{kind}} restarted' },
          { expr: rate('tenure_informer_failures_total', 'kind'), legend: '{{kind}} failed' },
        ],
      },
      {
        title: 'Memory',
        description: 'Resident memory of each process.',
        unit: 'bytes',
        targets: [{ expr: `max by (pod) (process_resident_memory_bytes{${IN}})`, legend: '{{pod}}' }],
      },
      {
        title: 'CPU',
        description: 'Cores of each process.',
        targets: [{ expr: rate('process_cpu_seconds_total', 'pod'), legend: '{{pod}}' }],
      },
    ],
  },
  {
    title: 'Applications',
    panels: [
      {
        title: 'Applications by phase',
        description: 'Number of Applications.',
        targets: [{ expr: `max by (phase) (resource_phase_count{${IN}})`, legend: '{{phase}}' }],
      },
      {
        title: 'Admission reviews',
        description: 'Per second, by webhook and outcome.',
        unit: 'reqps',
        targets: [
          { expr: rate('webhook_requests_total', 'webhook, allowed'), legend: '{{webhook}} allowed={{allowed}}' },
        ],
      },
      {
        title: 'HTTP requests',
        description: 'Per second, by route and status code.',
        unit: 'reqps',
        targets: [{ expr: rate('http_requests_total', 'route, code'), legend: '{{route}} {{code}}' }],
      },
      {
        title: 'Events',
        description: 'Recorded per second, by type and severity.',
        targets: [{ expr: rate('event_total', 'type, severity'), legend: '{{type}} {{severity}}' }],
      },
    ],
  },
  {
    title: 'Leases',
    panels: [
      {
        title: 'Leases that count down',
        description: 'By kind.',
        targets: [
          { expr: `max by (group, kind) (object_lease_controller_active_leases{${IN}})`, legend: '{{group}} {{kind}}' },
        ],
      },
      {
        title: 'Objects deleted',
        description: 'Per second, by kind.',
        targets: [
          { expr: rate('object_lease_controller_leases_expired_total', 'group, kind'), legend: '{{group}} {{kind}}' },
        ],
      },
      {
        title: 'Lateness of deletions',
        description: 'From the expiry to the deletion, the 99th percentile.',
        unit: 's',
        targets: [
          { expr: quantile(0.99, 'object_lease_controller_expiry_lateness_seconds', 'kind'), legend: '{{kind}}' },
        ],
      },
      {
        title: 'Cleanup jobs',
        description: 'Completed and failed per second.',
        targets: [
          { expr: rate('object_lease_controller_cleanup_jobs_completed_total', 'kind'), legend: '{{kind}} completed' },
          { expr: rate('object_lease_controller_cleanup_jobs_failed_total', 'kind'), legend: '{{kind}} failed' },
        ],
      },
    ],
  },
  {
    title: 'Claims',
    panels: [
      {
        title: 'Members of the pools',
        description: 'By pool and state.',
        targets: [
          { expr: `max by (pool, state) (claim_controller_pool_members{${IN}})`, legend: '{{pool}} {{state}}' },
        ],
      },
      {
        title: 'Claims handed out',
        description: 'Per second, warm and cold.',
        targets: [
          {
            expr: rate('claim_controller_pool_handout_duration_seconds_count', 'pool, source'),
            legend: '{{pool}} {{source}}',
          },
        ],
      },
      {
        title: 'Time until a claim is ready',
        description: 'The median and the 99th percentile, by source.',
        unit: 's',
        targets: [
          { expr: quantile(0.5, 'claim_controller_pool_handout_duration_seconds', 'source'), legend: '{{source}} p50' },
          {
            expr: quantile(0.99, 'claim_controller_pool_handout_duration_seconds', 'source'),
            legend: '{{source}} p99',
          },
        ],
      },
      {
        title: 'Claims',
        description: 'Claims and the resources that belong to them.',
        targets: [
          { expr: `max(claim_controller_active_claims{${IN}})`, legend: 'claims' },
          { expr: `max(claim_controller_active_resources{${IN}})`, legend: 'resources' },
        ],
      },
    ],
  },
  {
    title: 'Databases',
    panels: [
      {
        title: 'Databases by status',
        description: 'By type and status.',
        targets: [{ expr: `max by (type, status) (nest_resources_total{${IN}})`, legend: '{{type}} {{status}}' }],
      },
      {
        title: 'Jobs',
        description: 'Ended in the last hour, by type and status.',
        targets: [
          {
            expr: `sum by (type, status) (increase(nest_provisioning_jobs_total{${IN}}[1h]))`,
            legend: '{{type}} {{status}}',
          },
        ],
      },
      {
        title: 'Time of the work on one database',
        description: 'The 99th percentile.',
        unit: 's',
        targets: [{ expr: quantile(0.99, 'nest_reconcile_duration_seconds', 'namespace'), legend: '{{namespace}}' }],
      },
      {
        title: 'PostgreSQL server',
        description: '1 if it answers, and if its notifications arrive.',
        targets: [
          { expr: `min by (pod) (nest_db_up{${IN}})`, legend: '{{pod}} answers' },
          { expr: `max by (pod) (nest_db_listen_up{${IN}})`, legend: '{{pod}} listens' },
        ],
      },
    ],
  },
]

const SOURCE = { type: 'prometheus', uid: '${datasource}' }
const PANELS_PER_LINE = 4
const COLUMNS = 24
const HEIGHT = 8

/** The dashboard as Grafana imports it. */
export function dashboard(): string {
  const panels: object[] = []
  let y = 0
  for (const row of dashboardRows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { h: 1, w: COLUMNS, x: 0, y },
    })
    y++
    const w = COLUMNS / PANELS_PER_LINE
    for (const [index, panel] of row.panels.entries()) {
      const line = Math.floor(index / PANELS_PER_LINE)
      const gridPos = { h: HEIGHT, w, x: (index % PANELS_PER_LINE) * w, y: y + line * HEIGHT }
      panels.push(panelOf(panels.length + 1, panel, gridPos))
    }
    y += Math.ceil(row.panels.length / PANELS_PER_LINE) * HEIGHT
  }
  const json = {
    uid: 'tenure',
    title: 'Tenure',
    description: 'The operators of Tenure: Applications, leases, claims and databases.',
    tags: ['tenure'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
        {
          name: 'namespace',
          label: 'Namespace',
          type: 'query',
          datasource: SOURCE,
          query: { query: 'label_values(leader_election_master_status, namespace)', refId: 'namespaces' },
          refresh: 2,
          includeAll: true,
          multi: true,
          current: { text: ['All'], value: ['$__all'] },
        },
      ],
    },
    panels,
  }
  return `${JSON.stringify(json, null, 2)}\n`
}

function panelOf(id: number, { title, description, unit = 'short', targets }: Panel, gridPos: object): object {
  return {
    id,
    type: 'timeseries',
    title,
    description,
    datasource: SOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never' } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: targets.map(({ expr, legend }, index) => ({
      refId: String.fromCodePoint(0x41 + index),
      datasource: SOURCE,
      expr,
      legendFormat: legend,
    })),
  }
}
