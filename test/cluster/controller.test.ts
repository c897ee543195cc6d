import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'

import { Client, defineKind, HttpTransport, isNotFound, type KubeObject, loadConfig, mergePatch } from '@tenure/kube'
import { ConfigMap, Deployment } from '@tenure/kube/kinds'
import { controller, type ControllerDefinition, defineOperator, type Probes, runOperators } from '@tenure/runtime'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { type ClusterAccess, openCluster } from './access.ts'
import { RecordingLog, RecordingTransport } from './programs-under-test/recording.ts'
import {
  FINALIZER,
  GROUP,
  Widget,
  widgetController,
  widgetCrd,
  type WidgetsOptions,
} from './programs-under-test/widgets.ts'

const RUN = randomBytes(3).toString('hex')
const POLL_OPTIONS = { timeout: 90_000, interval: 50 }
const OPERATOR = `widgets-${RUN}`

let cluster: ClusterAccess
let adminTransport: HttpTransport
let admin: Client
const namespaces: string[] = []
const running: Running[] = []

beforeAll(async () => {
  cluster = await openCluster(workerKubeconfig())
  adminTransport = new HttpTransport(await loadConfig({ kubeconfigPath: cluster.kubeconfig }))
  admin = new Client({ transport: adminTransport, fieldManager: 'somebody' })
  await cluster.kubectl(['apply', '-f', '-'], { stdin: widgetCrd() })
  await cluster.kubectl(['wait', '--for=condition=Established', `crd/widgets.${GROUP}`, '--timeout=60s'])
})

afterEach(async () => {
  for (const operator of running.splice(0)) await operator.stop()
})

afterAll(async () => {
  // No operator is left to remove the finalizers.
  for (const namespace of namespaces) {
    const { items } = await admin.list(Widget, { namespace })
    await Promise.all(
      items.map(({ metadata }) => admin.patch(Widget, metadata, mergePatch({ metadata: { finalizers: null } }))),
    )
  }
  await cluster.kubectl(['delete', 'namespace', '--wait=false', ...namespaces])
  await cluster.kubectl(['delete', 'crd', `widgets.${GROUP}`, `gadgets.${GROUP}`, '--ignore-not-found'])
  await adminTransport.close()
})

async function newNamespace(what: string): Promise<string> {
  const namespace = `${what}-${RUN}`
  await cluster.kubectl(['create', 'namespace', namespace])
  namespaces.push(namespace)
  return namespace
}

interface StartOptions {
  /** Default: the admin's kubeconfig. */
  readonly kubeconfig?: string
  /** Name of the Lease. Default: no leader election. */
  readonly leaderElection?: string
}

/** An operator in this process, with its recorded requests and log lines. */
class Running {
  readonly transport: RecordingTransport
  readonly log = new RecordingLog()
  readonly #over = new AbortController()
  readonly #run: Promise<void>
  #probes: Probes | undefined

  constructor(
    transport: RecordingTransport,
    definition: ControllerDefinition,
    namespace: string,
    options: StartOptions,
  ) {
    this.transport = transport
    const { leaderElection } = options
    const operator = defineOperator({
      name: OPERATOR,
      ...(leaderElection !== undefined && { identity: { leaderLease: leaderElection } }),
      setup: ({ probes }) => {
        this.#probes = probes
        return { controllers: [definition] }
      },
    })
    this.#run = runOperators(
      {
        operators: [operator],
        namespace,
        transport,
        log: this.log,
        freeze: true,
        ...(leaderElection === undefined && { leaderElection: false }),
      },
      this.#over.signal,
    )
  }

  /** The text of the readiness probe; empty if it succeeds. */
  async problems(): Promise<string> {
    const results = (await this.#probes?.check('ready')) ?? []
    return results.map(({ problem }) => problem ?? '').join('')
  }

  said(message: string): boolean {
    return this.log.lines.some((line) => line.message === message)
  }

  async stop(): Promise<void> {
    this.#over.abort(new Error('The test is over'))
    await this.#run
    await this.transport.close()
  }
}

async function start(
  definition: ControllerDefinition,
  namespace: string,
  options: StartOptions = {},
): Promise<Running> {
  const transport = await RecordingTransport.open(options.kubeconfig ?? cluster.kubeconfig)
  const operator = new Running(transport, definition, namespace, options)
  running.push(operator)
  return operator
}

function startWidgets(options: WidgetsOptions, more: StartOptions = {}): Promise<Running> {
  return start(widgetController(options), options.namespace, more)
}

async function createWidgets(namespace: string, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `widget-${index}`)
  await Promise.all(
    names.map((name) => admin.create(Widget, { metadata: { name, namespace }, spec: { color: 'red' } })),
  )
}

/** Returns how many widgets report in their status that they are complete. */
async function countDone(namespace: string): Promise<number> {
  const { items } = await admin.list(Widget, { namespace })
  return items.filter(({ spec, status }) => status?.color === spec.color && status.children === 3).length
}

/** Waits until an operator has sent nothing but watches and lease renewals for `silence` milliseconds. */
async function settle(operator: Running, silence = 1_000): Promise<void> {
  for (let seen = -1; seen !== operator.transport.work.length;) {
    seen = operator.transport.work.length
    await wait(silence)
  }
}

async function getOrNone(...[kind, ref]: Parameters<Client['get']>): Promise<KubeObject | undefined> {
  try {
    return await admin.get(kind, ref)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

describe('a controller in steady state', () => {
  test('a controller sends only watches and lease renewals, even after a restart', async () => {
    const namespace = await newNamespace('rest')
    await createWidgets(namespace, 50)
    const first = await startWidgets({ namespace }, { leaderElection: 'rest' })
    await expect.poll(() => countDone(namespace), POLL_OPTIONS).toBe(50)
    await settle(first)

    const before = first.transport.sent.length
    const work = first.transport.work.length
    // A fixed wait: the test proves that nothing happens.
    await wait(10_000)
    expect(first.transport.work.slice(work)).toEqual([])
    const rest = first.transport.sent.slice(before)
    expect(rest.filter(({ isWatch }) => isWatch)).toEqual([])
    expect(rest.length).toBeGreaterThanOrEqual(5)
    expect(rest.every(({ method, isLease, status }) => isLease && method === 'PUT' && status === 200)).toBe(true)
    await first.stop()

    const second = await startWidgets({ namespace }, { leaderElection: 'rest' })
    await expect.poll(() => second.said('controller started'), POLL_OPTIONS).toBe(true)
    await settle(second, 3_000)
    expect(second.transport.work).toEqual([])
    expect(second.log.errorsAt('warn')).toEqual([])
  })

  test('a controller converges 200 objects with a concurrency of 16', async () => {
    const namespace = await newNamespace('many')
    const operator = await startWidgets({ namespace, concurrency: 16 })
    await createWidgets(namespace, 200)
    await expect.poll(() => countDone(namespace), POLL_OPTIONS).toBe(200)
    await settle(operator)
    // A finalizer, three children, and a status that is written again when the children are observed.
    expect(operator.transport.work.length).toBeLessThanOrEqual(200 * 6)
    expect(operator.log.errorsAt('error')).toEqual([])
  })
})

describe('a controller with other writers', () => {
  test('a controller converges while another client writes to the same objects', async () => {
    const namespace = await newNamespace('busy')
    const name = 'contested'
    await admin.create(Widget, { metadata: { name, namespace }, spec: { color: 'red' } })
    let writes = 0
    const over = new AbortController()
    const scribble = async (kind: Parameters<Client['patch']>[0], body: () => object): Promise<void> => {
      while (!over.signal.aborted) {
        try {
          await admin.patch(kind, { name, namespace }, mergePatch(body()))
          writes++
        } catch (error) {
          if (!isNotFound(error)) throw error
        }
      }
    }
    const note = (): object => ({ metadata: { annotations: { note: String(writes) } } })
    const vandals = Promise.all([
      scribble(Widget, note),
      scribble(Deployment, note),
      scribble(ConfigMap, () => ({ data: { color: 'black', theirs: String(writes) } })),
    ])
    await expect.poll(() => writes, POLL_OPTIONS).toBeGreaterThan(20)

    const operator = await startWidgets({ namespace })
    await expect.poll(() => countDone(namespace), POLL_OPTIONS).toBe(1)
    const widget = await admin.get(Widget, { name, namespace })
    expect(widget.metadata.finalizers).toEqual([FINALIZER])
    over.abort()
    await vandals

    await expect
      .poll(async () => (await admin.get(ConfigMap, { name, namespace })).data?.['color'], POLL_OPTIONS)
      .toBe('red')
    await settle(operator)
    expect((await admin.get(ConfigMap, { name, namespace })).data).toMatchObject({
      color: 'red',
      theirs: expect.stringMatching(/^\d+$/),
    })
    expect((await admin.get(Deployment, { name, namespace })).metadata.annotations?.['note']).toMatch(/\d+/)
    expect(operator.log.errorsAt('error')).toEqual([])
  })

  test('a controller reports a child with another owner, and creates its own when that is gone', async () => {
    const namespace = await newNamespace('foreign')
    const owner = await admin.create(ConfigMap, { metadata: { name: 'their-owner', namespace } })
    const { uid } = owner.metadata
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'their-owner', uid, controller: true }
    const theirs = { metadata: { name: 'taken', namespace, ownerReferences: [reference] }, data: { color: 'blue' } }
    const { metadata } = await admin.create(ConfigMap, theirs)
    const operator = await startWidgets({ namespace })
    await admin.create(Widget, { metadata: { name: 'taken', namespace }, spec: { color: 'red' } })
    const complaint =
      `ConfigMap ${namespace}/taken already belongs to ConfigMap their-owner. ` +
      `Delete it, or choose another name for the one of Widget ${namespace}/taken.`
    await expect.poll(() => operator.log.errorsAt('error'), POLL_OPTIONS).toContain(complaint)
    await settle(operator)
    expect(await admin.get(ConfigMap, theirs.metadata)).toMatchObject({
      metadata: { resourceVersion: metadata.resourceVersion },
      data: { color: 'blue' },
    })

    await admin.delete(ConfigMap, theirs.metadata)
    await expect.poll(() => countDone(namespace), POLL_OPTIONS).toBe(1)
  })

  test('the finalizer stays while cleanup fails, and is removed when it succeeds', async () => {
    const namespace = await newNamespace('cleanup')
    let isBroken = true
    let cleanups = 0
    const onCleanup = (): void => {
      cleanups++
      if (isBroken) throw new Error('The external service is down')
    }
    const backoff = { base: 20, max: 200 }
    const operator = await startWidgets({ namespace, onCleanup, backoff })
    const ref = { name: 'going', namespace }
    await admin.create(Widget, { metadata: ref, spec: { color: 'red' } })
    await expect.poll(() => countDone(namespace), POLL_OPTIONS).toBe(1)

    const deleted = await admin.delete(Widget, ref)
    expect(deleted.gone).toBe(false)
    await expect.poll(() => cleanups, POLL_OPTIONS).toBeGreaterThan(5)
    expect((await admin.get(Widget, ref)).metadata.finalizers).toEqual([FINALIZER])
    expect(operator.log.errorsAt('error')).toContain('The external service is down')
    isBroken = false
    await expect.poll(() => getOrNone(Widget, ref), POLL_OPTIONS).toBeUndefined()
    const done = cleanups
    await settle(operator)
    expect(cleanups).toBe(done)
  })
})

/** Grants permissions in a namespace, in two roles: one to watch, one to write. */
async function grant(namespace: string, role: 'watch' | 'write'): Promise<void> {
  const verbs = role === 'watch' ? ['list', 'watch'] : ['create', 'patch', 'update', 'delete']
  const rules = [
    { apiGroups: [GROUP], resources: ['widgets', 'widgets/status'], verbs },
    { apiGroups: ['', 'apps'], resources: ['configmaps', 'services', 'deployments'], verbs },
    // The API server lets a client set blockOwnerDeletion only if it may update the owner's finalizers.
    { apiGroups: [GROUP], resources: ['widgets/finalizers'], verbs: ['update'] },
  ]
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name: `${OPERATOR}-${role}`, namespace }
  const items = [
    { apiVersion, kind: 'Role', metadata, rules },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: OPERATOR }],
    },
  ]
  await cluster.kubectl(['apply', '-f', '-'], { stdin: { apiVersion: 'v1', kind: 'List', items } })
}

describe('a controller with missing permissions or kinds', () => {
  test('a controller names the missing permission, is not ready, and continues once it is granted', async () => {
    const namespace = await newNamespace('rights')
    const kubeconfig = await cluster.userKubeconfig(OPERATOR)
    const operator = await startWidgets({ namespace, backoff: { base: 50, max: 500 } }, { kubeconfig })
    await createWidgets(namespace, 1)
    const complaint = `Not allowed to watch widgets.${GROUP}/v1 in namespace ${namespace}: grant the verbs list and watch`
    await expect.poll(() => operator.problems(), POLL_OPTIONS).toContain(complaint)

    await grant(namespace, 'watch')
    await expect.poll(() => operator.problems(), POLL_OPTIONS).toBe('')
    await expect
      .poll(() => operator.log.errorsAt('warn').join('\n'), POLL_OPTIONS)
      .toContain('cannot patch resource "widgets"')
    expect(await countDone(namespace)).toBe(0)

    await grant(namespace, 'write')
    await expect.poll(() => countDone(namespace), POLL_OPTIONS).toBe(1)

    // Revokes the write role: watches continue, writes fail, and no work is lost.
    await cluster.kubectl(['-n', namespace, 'delete', 'rolebinding', `${OPERATOR}-write`])
    await expect
      .poll(
        async () =>
          (await cluster.runKubectl(['-n', namespace, 'auth', 'can-i', 'patch', 'configmaps'], { kubeconfig })).code,
        POLL_OPTIONS,
      )
      .toBe(1)
    const lines = operator.log.lines.length
    const paint = mergePatch({ spec: { color: 'green' } })
    await admin.patch(Widget, { name: 'widget-0', namespace }, paint)
    await expect
      .poll(
        () =>
          operator.log.lines
            .slice(lines)
            .map(({ facts }) => String(facts['error']))
            .join('\n'),
        POLL_OPTIONS,
      )
      .toContain('cannot patch resource "configmaps"')
    await grant(namespace, 'write')
    await expect.poll(() => countDone(namespace), POLL_OPTIONS).toBe(1)
    expect((await admin.get(ConfigMap, { name: 'widget-0', namespace })).data).toEqual({ color: 'green' })
  })

  test('a controller waits for a kind that is not served yet, and is not ready until then', async () => {
    const namespace = await newNamespace('unknown')
    const Gadget = defineKind({ apiVersion: `${GROUP}/v1`, kind: 'Gadget' })
    const seen: string[] = []
    const gadgets = controller(Gadget, {
      selection: { namespace },
      plan({ object }) {
        seen.push(object.metadata.name)
        return []
      },
    })
    const operator = await start(gadgets, namespace)
    await expect
      .poll(() => operator.problems(), POLL_OPTIONS)
      .toContain(`The API server does not serve gadgets.${GROUP}/v1: install its CustomResourceDefinition`)
    expect(operator.said('controller started')).toBe(false)

    await cluster.kubectl(['apply', '-f', '-'], { stdin: widgetCrd('Gadget') })
    await cluster.kubectl(['wait', '--for=condition=Established', `crd/gadgets.${GROUP}`, '--timeout=60s'])
    await admin.create(Gadget, { metadata: { name: 'late', namespace } })
    await expect.poll(() => seen, POLL_OPTIONS).toContain('late')
    expect(await operator.problems()).toBe('')
  })
})
