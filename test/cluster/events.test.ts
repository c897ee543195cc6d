import { randomBytes } from 'node:crypto'

import { Client, defineKind, HttpTransport, loadConfig, type Stored, systemClock, systemRandom } from '@tenure/kube'
import { controller, defineOperator, event, EventRecorder, runOperators } from '@tenure/runtime'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { Website } from '../../docs/examples/websites.ts'
import { type ClusterAccess, openCluster } from './access.ts'
import { RecordingLog } from './programs-under-test/recording.ts'

const NAMESPACE = `events-${randomBytes(3).toString('hex')}`
const POLL_OPTIONS = { timeout: 90_000, interval: 50 }
const CRD = 'docs/examples/website-crd.yaml'
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

interface KubeEvent {
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly eventTime: string
  readonly reason: string
  readonly note: string
  readonly regarding: Readonly<Record<string, string>>
  readonly related?: Readonly<Record<string, string>>
  readonly series?: { readonly count: number; readonly lastObservedTime: string }
}

let cluster: ClusterAccess
let transport: HttpTransport
let api: Client
let recorder: EventRecorder
let log: RecordingLog

const inNamespace = (...args: readonly string[]): Promise<string> => cluster.kubectl(['-n', NAMESPACE, ...args])

beforeAll(async () => {
  cluster = await openCluster(workerKubeconfig())
  await cluster.kubectl(['create', 'namespace', NAMESPACE])
  await cluster.kubectl(['apply', '-f', CRD])
  await cluster.kubectl(['wait', '--for=condition=Established', 'crd/websites.example.dev', '--timeout=60s'])
  transport = new HttpTransport(await loadConfig({ kubeconfigPath: cluster.kubeconfig }))
  api = new Client({ transport })
})

afterEach(() => recorder?.close())

afterAll(async () => {
  await transport.close()
  await cluster.kubectl(['delete', '-f', CRD])
  await cluster.kubectl(['delete', 'namespace', NAMESPACE, '--wait=false'])
})

function newRecorder(): EventRecorder {
  log = new RecordingLog()
  recorder = new EventRecorder({
    api,
    clock: systemClock,
    random: systemRandom,
    controller: 'example.dev/websites',
    instance: 'websites-0',
    log,
  })
  return recorder
}

function createWebsite(name: string): Promise<Stored<Website>> {
  return api.create(Website, { metadata: { name, namespace: NAMESPACE }, spec: { image: 'web:1' } })
}

/** Reads the Events through events.k8s.io. */
async function eventsOf(website: string): Promise<readonly KubeEvent[]> {
  const text = await inNamespace('get', 'events.v1.events.k8s.io', '-o', 'json')
  const { items } = JSON.parse(text) as { items: readonly KubeEvent[] }
  return items.filter(({ regarding }) => regarding['name'] === website)
}

describe('recorded events', () => {
  test('recorded Events are events.k8s.io/v1 and visible in kubectl get and describe', async () => {
    const website = await createWebsite('shown')
    const related = await createWebsite('its-friend')
    newRecorder().record(website, {
      type: 'Warning',
      reason: 'ImageMissing',
      action: 'Pull',
      message: 'There is no image web:1 ☂.',
      related,
    })
    await recorder.flush()
    const [stored, ...more] = await eventsOf('shown')
    expect(more).toEqual([])
    expect(stored).toMatchObject({
      eventTime: expect.stringMatching(MICRO_TIME),
      reportingController: 'example.dev/websites',
      reportingInstance: 'websites-0',
      type: 'Warning',
      reason: 'ImageMissing',
      action: 'Pull',
      note: 'There is no image web:1 ☂.',
      regarding: { apiVersion: 'example.dev/v1', kind: 'Website', name: 'shown', uid: website.metadata.uid },
      related: { name: 'its-friend', uid: related.metadata.uid },
    })

    const about = ['--for', 'website/shown']
    expect(await inNamespace('events', ...about)).toMatch(
      /LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n\d+s +Warning +ImageMissing +Website\/shown +There is no image web:1 ☂\.\n/,
    )
    expect(await inNamespace('get', 'events')).toMatch(/Warning +ImageMissing +website\/shown +There is no image/)
    expect(await inNamespace('describe', 'website', 'shown')).toMatch(
      /Events:\n +Type +Reason +Age +From +Message\n.*\n +Warning +ImageMissing +.*example\.dev\/websites.* +There is no image web:1 ☂\./,
    )
    expect(log.lines).toEqual([])
  })

  test('a repeated Event becomes one series with a rising count', async () => {
    const website = await createWebsite('repeated')
    const details = { type: 'Normal', reason: 'Tried', message: 'Tried once more.' } as const
    newRecorder().record(website, details)
    await recorder.flush()
    expect((await eventsOf('repeated'))[0]?.series).toBeUndefined()
    for (let time = 0; time < 4; time++) recorder.record(website, details)
    // Another reason makes another Event.
    recorder.record(website, { ...details, reason: 'Gave' })
    await recorder.flush()
    const events = (await eventsOf('repeated')).toSorted((a, b) => b.reason.localeCompare(a.reason))
    expect(events).toMatchObject([
      { reason: 'Tried', series: { count: 5, lastObservedTime: expect.stringMatching(MICRO_TIME) } },
      { reason: 'Gave' },
    ])
    expect(await inNamespace('events', '--for', 'website/repeated')).toMatch(/\(x5 over .*\) +Normal +Tried/)

    // Events expire: a deleted one is created again and continues its count.
    await inNamespace('delete', 'events', '--all')
    recorder.record(website, details)
    await recorder.flush()
    expect(await eventsOf('repeated')).toMatchObject([{ reason: 'Tried', series: { count: 6 } }])
    expect(log.lines).toEqual([])
  })

  test('Events of cluster-scoped objects and of objects with odd names are in the default namespace', async () => {
    const Node = defineKind({ apiVersion: 'v1', kind: 'Node', namespaced: false })
    const node = await api.get(Node, { name: 'node-0' })
    newRecorder().record(node, { type: 'Normal', reason: 'Noticed', message: 'It is there.' })
    const oddName = `system:odd-${NAMESPACE}`
    recorder.record(
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: oddName } },
      { type: 'Normal', reason: 'Noticed', message: 'It has a name that no event may have.' },
    )
    await recorder.flush()
    const about = ['-n', 'default', 'get', 'events', '-o', 'jsonpath={.items[*].message}', '--field-selector']
    expect(await cluster.kubectl([...about, 'reason=Noticed,involvedObject.name=node-0'])).toContain('It is there.')
    expect(await cluster.kubectl([...about, `involvedObject.name=${oddName}`])).toContain('no event may have')
    expect(log.lines).toEqual([])
  })

  test('Events of a plan carry the name of its operator, and are all written before it stops', async () => {
    await createWebsite('planned')
    const over = new AbortController()
    const seen: string[] = []
    const watcher = controller(Website, {
      selection: { namespace: NAMESPACE, fieldSelector: 'metadata.name=planned' },
      plan({ object }) {
        seen.push(object.metadata.name)
        return [event({ type: 'Normal', reason: 'Planned', message: 'This is the plan.' })]
      },
    })
    const planner = defineOperator({ name: 'planner', setup: () => ({ controllers: [watcher] }) })
    const run = runOperators({ operators: [planner], transport, leaderElection: false }, over.signal)
    await expect.poll(() => seen, POLL_OPTIONS).toEqual(['planned'])
    over.abort()
    await run
    expect(await eventsOf('planned')).toMatchObject([
      { reportingController: 'planner', reason: 'Planned', note: 'This is the plan.' },
    ])
  })
})
