/** Tests Applications with kubectl on a real cluster. The operator runs with the permissions of its manifest only. */
import { clusterRules, namespaceRules, OPERATOR, workloadRules } from '@tenure/applications'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { ApplicationsFixture, type Replica } from './programs-under-test/applications.ts'

const POLL_OPTIONS = { timeout: 90_000, interval: 100 }
const IMAGE = 'docker.io/library/nginx:1.29'

let fixture: ApplicationsFixture
let operator: Replica

beforeAll(async () => {
  fixture = await ApplicationsFixture.open(workerKubeconfig())
  // An account that may only read metrics.
  await fixture.cluster.kubectl(['-n', fixture.home, 'create', 'serviceaccount', 'prometheus'])
  const [role, account] = ['--clusterrole=elide-operator-metrics', `--serviceaccount=${fixture.home}:prometheus`]
  await fixture.cluster.kubectl(['create', 'clusterrolebinding', fixture.home, role, account])
  // Like a pod, except for the addresses: a Service cannot be reached from outside the cluster.
  const env = { AUTH: 'token', WEBHOOKS: 'true', WEBHOOK_URL: 'https://127.0.0.1:0', WEBHOOK_PORT: '0' }
  operator = await fixture.start('only', env, await fixture.token('prometheus'))
  await operator.whenReady()
})

afterAll(async () => {
  await fixture.cluster.kubectl(['delete', 'clusterrolebinding', fixture.home])
  await fixture.close()
})

/** Returns replicas and image: `3 nginx:1.29`. */
const deployed = (name: string): Promise<string> =>
  fixture.kubectl(
    'get',
    'deployment',
    name,
    '-o',
    'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}',
  )

const uidOf = async (kind: string, name: string): Promise<string> =>
  (await fixture.cluster.runKubectl(['-n', fixture.namespace, 'get', kind, name, '-o', 'jsonpath={.metadata.uid}']))
    .stdout

async function status(path: string, init?: RequestInit): Promise<number> {
  const answer = await operator.fetch(path, init)
  // Reads the whole body, because the operator's shutdown waits for unfinished responses.
  await answer.text()
  return answer.status
}

describe('an Application managed with kubectl', () => {
  test('an Application rolls out, is shown, awaited and scaled', async () => {
    await fixture.apply('shop', { replicas: 3, image: IMAGE })
    await fixture.whenReady('shop')
    const columns = (await fixture.kubectl('get', 'app', 'shop')).split('\n').map((line) => line.split(/ +/))
    expect(columns.slice(0, 2)).toEqual([
      ['NAME', 'REPLICAS', 'READY', 'PHASE', 'AGE'],
      ['shop', '3', '3', 'Running', expect.stringMatching(/^\d+s$|^\d+m/)],
    ])
    expect(await fixture.kubectl('get', 'all')).toContain('application.cloudnative.elide.dev/shop')
    expect(await fixture.kubectl('rollout', 'status', 'deployment/shop')).toContain('successfully rolled out')
    expect(await fixture.get('shop')).toMatchObject({
      metadata: {
        finalizers: ['cloudnative.elide.dev/finalizer'],
        labels: { 'app.kubernetes.io/managed-by': 'elide-operator' },
        annotations: { 'elide.dev/webhook-mutated': 'true' },
      },
      spec: { strategy: 'RollingUpdate' },
    })

    await fixture.kubectl('scale', 'application/shop', '--replicas=5')
    await expect.poll(() => deployed('shop'), POLL_OPTIONS).toBe(`5 ${IMAGE}`)
    await fixture.kubectl('wait', '--for=jsonpath={.status.readyReplicas}=5', '--timeout=90s', 'application/shop')
    expect(await fixture.kubectl('get', 'application', 'shop', '-o', 'jsonpath={.status.labelSelector}')).toContain(
      'app.kubernetes.io/instance=shop',
    )
    await expect
      .poll(() => fixture.kubectl('get', 'events', '--field-selector', 'involvedObject.name=shop'), POLL_OPTIONS)
      .toMatch(/Normal +Created/)
  })

  test('an autoscaler scales an Application like any workload', async () => {
    await fixture.apply('elastic', { replicas: 1, image: IMAGE })
    await fixture.whenReady('elastic')
    await fixture.cluster.kubectl(['apply', '-f', '-'], {
      stdin: {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'elastic', namespace: fixture.namespace },
        spec: {
          scaleTargetRef: { apiVersion: 'cloudnative.elide.dev/v1', kind: 'Application', name: 'elastic' },
          // There are no metrics here, but minReplicas applies without them.
          minReplicas: 3,
          maxReplicas: 5,
        },
      },
    })
    await expect.poll(() => deployed('elastic'), { ...POLL_OPTIONS, timeout: 150_000 }).toBe(`3 ${IMAGE}`)
    await fixture.kubectl('wait', '--for=jsonpath={.status.readyReplicas}=3', '--timeout=90s', 'application/elastic')
    expect((await fixture.get('elastic')).spec).toMatchObject({ replicas: 3 })
    await fixture.kubectl('delete', 'hpa', 'elastic')
  })

  test('changes of owned fields in its Deployment are reverted, and other fields stay', async () => {
    await fixture.apply('kept', { replicas: 2, image: IMAGE })
    await fixture.whenReady('kept')
    await fixture.kubectl('annotate', 'deployment', 'kept', 'example.com/note=keep me')
    await fixture.kubectl('patch', 'deployment', 'kept', '--type=merge', '-p', '{"spec":{"minReadySeconds":1}}')
    await fixture.kubectl('scale', 'deployment', 'kept', '--replicas=7')
    await fixture.kubectl('set', 'image', 'deployment/kept', '*=evil:1')
    await expect.poll(() => deployed('kept'), POLL_OPTIONS).toBe(`2 ${IMAGE}`)
    const kept = ['-o', 'jsonpath={.metadata.annotations.example\\.com/note} {.spec.minReadySeconds}']
    expect(await fixture.kubectl('get', 'deployment', 'kept', ...kept)).toBe('keep me 1')

    const before = await uidOf('deployment', 'kept')
    await fixture.kubectl('delete', 'deployment', 'kept')
    await expect.poll(async () => (await uidOf('deployment', 'kept')) || before, POLL_OPTIONS).not.toBe(before)
    await fixture.whenReady('kept')
    await fixture.kubectl('wait', '--for=jsonpath={.status.readyReplicas}=2', '--timeout=90s', 'application/kept')

    await fixture.kubectl('annotate', 'application', 'kept', 'example.com/mine=too')
    await fixture.apply('kept', { replicas: 1, image: `${IMAGE}-perl` })
    await expect.poll(() => deployed('kept'), POLL_OPTIONS).toBe(`1 ${IMAGE}-perl`)
    expect((await fixture.get('kept')).metadata.annotations).toMatchObject({ 'example.com/mine': 'too' })
  })

  test('an image that cannot be pulled is reported, and so is its repair', async () => {
    const podAnnotations = { 'tenure.dev/simulate-pull-failure': 'true' }
    await fixture.apply('broken', { replicas: 2, image: IMAGE, podAnnotations })
    await fixture.kubectl('wait', '--for=jsonpath={.status.phase}=Failed', '--timeout=90s', 'application/broken')
    const ready = (await fixture.get('broken')).status?.conditions?.find(({ type }) => type === 'Ready')
    expect(ready).toMatchObject({ status: 'False', reason: 'ImagePullBackOff' })
    expect(ready?.['message']).toContain(IMAGE)

    await fixture.apply('broken', { replicas: 2, image: IMAGE })
    await fixture.whenReady('broken')
    expect((await fixture.get('broken')).status).toMatchObject({ phase: 'Running', readyReplicas: 2 })
  })

  test('all optional objects are created, changed and deleted', async () => {
    const full = {
      replicas: 1,
      image: IMAGE,
      config: { COLOUR: 'blue' },
      ports: [{ port: 80, targetPort: 8080 }],
      ingress: { host: 'full.example.com' },
      persistence: { size: '1Gi', mountPath: '/data' },
      autoscaling: { minReplicas: 1, maxReplicas: 3 },
    }
    const names = (): Promise<string> =>
      fixture.kubectl(
        'get',
        'configmap,pvc,service,deployment,job,hpa,ingress',
        '-l',
        'app.kubernetes.io/instance=full',
        '-o',
        'jsonpath={range .items[*]}{.kind} {end}',
      )
    await fixture.apply('full', full)
    const all = 'ConfigMap PersistentVolumeClaim Service Deployment HorizontalPodAutoscaler Ingress '
    await expect.poll(names, POLL_OPTIONS).toBe(all)
    await fixture.apply('full', { replicas: 1, image: IMAGE })
    // The PersistentVolumeClaim stays, so that an edit does not delete data.
    await expect.poll(names, POLL_OPTIONS).toBe('PersistentVolumeClaim Deployment ')
    await fixture.apply('full', { replicas: 1, image: IMAGE, run: 'Once' })
    await expect.poll(names, POLL_OPTIONS).toBe('PersistentVolumeClaim Job ')
  })

  test('deleting an Application deletes all its objects', async () => {
    await fixture.kubectl('delete', 'applications', '--all', '--timeout=90s')
    expect(await fixture.kubectl('get', 'applications', '-o', 'name')).toBe('')
    const left = (): Promise<string> =>
      fixture.kubectl(
        'get',
        'configmap,pvc,service,deployment,replicaset,job,hpa,ingress,pods',
        '-l',
        'app.kubernetes.io/managed-by=elide-operator',
        '-o',
        'name',
      )
    await expect.poll(left, POLL_OPTIONS).toBe('')
  })
})

describe('permissions', () => {
  test('the manifest grants every permission that the operator used', async () => {
    await fixture.apply('counted', { replicas: 1, image: IMAGE })
    await fixture.whenReady('counted')
    await fixture.kubectl('delete', 'application', 'counted', '--timeout=90s')
    const metrics = await operator.metrics()
    expect(metrics).toMatch(/^rest_client_requests_total\{code="201",method="POST"/m)
    expect(metrics).toMatch(/^rest_client_requests_total\{code="200",method="PATCH"/m)
    expect(metrics).not.toMatch(/^rest_client_requests_total\{code="40[13]"/m)
    expect(metrics).toMatch(/^webhook_requests_total\{webhook="validate",operation="CREATE",allowed="true"\} [1-9]/m)
    expect(operator.complaints).toEqual([])
  })

  test("the manifest's Deployment rolls out three replicas", async () => {
    const stdin = await fixture.deployed((kind) => kind === 'Deployment')
    await fixture.cluster.kubectl(['apply', '-f', '-'], { stdin })
    await fixture.cluster.kubectl(['-n', fixture.home, 'rollout', 'status', `deployment/${OPERATOR}`, '--timeout=90s'])
    const pods = await fixture.cluster.kubectl([
      '-n',
      fixture.home,
      'get',
      'pods',
      '-l',
      `app=${OPERATOR}`,
      '-o',
      'name',
    ])
    expect(pods.trim().split('\n')).toHaveLength(3)
  })

  test('callers need a token and RBAC decides what they may do', async () => {
    const route = `/apis/cloudnative.elide.dev/v1/namespaces/${fixture.namespace}/applications`
    const authorization = `Bearer ${await fixture.token('elide-operator')}`
    const anonymous = { headers: { authorization: 'Bearer nonsense' } }
    expect([await status('/readyz', anonymous), await status('/healthz', anonymous)]).toEqual([200, 200])
    expect([await status('/metrics', anonymous), await status(route, anonymous)]).toEqual([401, 401])
    expect([await status('/metrics'), await status(route)]).toEqual([200, 403])
    const known = { headers: { authorization } }
    expect([await status('/metrics', known), await status(route, known)]).toEqual([403, 200])
  })

  test('an operator for one namespace needs a Role only there', async () => {
    const { home, namespace } = fixture
    const account = 'one-namespace'
    const name = `${home}-${account}`
    const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })
    const subjects = [{ kind: 'ServiceAccount', name: account, namespace: home }]
    const rights = { oneNamespace: true, webhooks: false, tokens: false, installDefinitions: false }
    const rbac = (kind: string, metadata: object, more: object) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind,
      metadata: { name, ...metadata },
      ...more,
    })
    const items = [
      rbac('ClusterRole', {}, { rules: clusterRules(rights) }),
      rbac('ClusterRoleBinding', {}, { roleRef: roleRef('ClusterRole'), subjects }),
      rbac('Role', { namespace }, { rules: workloadRules() }),
      rbac('RoleBinding', { namespace }, { roleRef: roleRef('Role'), subjects }),
      rbac('Role', { namespace: home }, { rules: namespaceRules(rights) }),
      rbac('RoleBinding', { namespace: home }, { roleRef: roleRef('Role'), subjects }),
    ]
    await fixture.stop(operator)
    await fixture.cluster.kubectl(['delete', 'validatingwebhookconfiguration,mutatingwebhookconfiguration', OPERATOR])
    await fixture.cluster.kubectl(['-n', home, 'create', 'serviceaccount', account])
    await fixture.cluster.kubectl(['apply', '-f', '-'], { stdin: { apiVersion: 'v1', kind: 'List', items } })
    const KUBECONFIG = await fixture.writeKubeconfig(account)
    const modest = await fixture.start(account, {
      KUBECONFIG,
      WATCH_NAMESPACE: namespace,
      INSTALL_DEFINITIONS: 'false',
    })
    await modest.whenReady()
    await fixture.apply('modest', { replicas: 1, image: IMAGE })
    await fixture.whenReady('modest')
    await fixture.kubectl('delete', 'application', 'modest', '--timeout=90s')
    expect(modest.complaints).toEqual([])
    await fixture.cluster.kubectl(['delete', 'clusterrole,clusterrolebinding', name])
  })

  test.each([
    [['get', 'secrets'], 'no'],
    [['list', 'secrets'], 'no'],
    [['get', 'secret/elide-operator-webhook', '-n', 'home'], 'yes'],
    [['get', 'secret/another', '-n', 'home'], 'no'],
    [['update', 'lease/another', '-n', 'home'], 'no'],
    [['create', 'namespaces'], 'no'],
    [['create', 'pods'], 'no'],
    [['get', 'pods/exec'], 'no'],
    [['delete', 'crd/applications.cloudnative.elide.dev'], 'no'],
    [['patch', 'crd/another'], 'no'],
    [['patch', 'validatingwebhookconfigurations/another'], 'no'],
    [['create', 'clusterroles'], 'no'],
    [['create', 'deployments', '-A'], 'yes'],
  ])('kubectl auth can-i %o answers %s', async (question, answer) => {
    const { kubeconfig } = fixture
    const where = question.map((word) => (word === 'home' ? fixture.home : word))
    const { stdout } = await fixture.cluster.runKubectl(['auth', 'can-i', ...where], { kubeconfig })
    expect(stdout.trim()).toBe(answer)
  })
})
