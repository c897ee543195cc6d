import { expect, test } from 'vitest'
import { samplesOf } from './exposition.ts'
import { controllerRows, isControllerMetric } from './rows.ts'

const text = `# HELP workqueue_depth Current number of keys in the queue.
# TYPE workqueue_depth gauge
workqueue_depth{name="application",controller="application"} 3
workqueue_retries_total{name="application",controller="application"} 2
workqueue_work_duration_seconds_bucket{name="application",controller="application",le="0.1"} 4
workqueue_work_duration_seconds_bucket{name="application",controller="application",le="+Inf"} 5
workqueue_work_duration_seconds_sum{name="application",controller="application"} 1.5
workqueue_work_duration_seconds_count{name="application",controller="application"} 5
controller_runtime_reconcile_errors_total{controller="application"} 1
workqueue_depth{name="pool",controller="pool"} 0
process_cpu_seconds_total 7
`

test('a row has the queue of a controller and the leader of its operator', () => {
  const rows = controllerRows(samplesOf(text, isControllerMetric), [
    { name: 'applications', isLeader: true, leader: 'me', queues: [{ name: 'application', lastEventAt: 5 }] },
    { name: 'databases', isLeader: false, leader: undefined, queues: [] },
  ])
  expect([...rows.values()]).toEqual([
    {
      id: 'applications/application',
      name: 'application',
      operator: 'applications',
      isLeader: true,
      leader: 'me',
      depth: 3,
      retries: 2,
      reconciles: 5,
      errors: 1,
      lastEventAt: 5,
      durationSeconds: { le: [0.1], counts: [4, 5], sum: 1.5, count: 5 },
    },
    expect.objectContaining({ id: 'databases/', name: '', operator: 'databases', isLeader: false, depth: 0 }),
    expect.objectContaining({ id: '/pool', name: 'pool', operator: '' }),
  ])
  expect(rows.get('databases/')).not.toHaveProperty('leader')
})

test('labels are read with their escapes', () => {
  const line = String.raw`m{a="x\"y\\z\n",b="1,2"} +Inf`
  expect(samplesOf(line, () => true)).toEqual([{ name: 'm', labels: { a: 'x"y\\z\n', b: '1,2' }, value: Infinity }])
  expect(samplesOf('# m 1\n\nnot a sample\n', () => true)).toEqual([])
})
