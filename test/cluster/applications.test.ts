/** Applications as people with kubectl know them, kept by an operator that has only the rights of its manifest. */
import { clusterRules, homeRules, OPERATOR, workloadRules } from '@tenure/applications'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { ApplicationsBed, type Replica } from './programs-under-test/applications.ts'

const SOON = { timeout: 90_000, interval: 100 }
const IMAGE = 'docker.io/library/nginx:1.29'

let bed: ApplicationsBed
let operator: Replica

beforeAll(async () => {
  bed = await ApplicationsBed.open(inject('kubeconfig'))
  // Who may read metrics, and nothing else.
  await bed.cluster.kubectl(['-n', bed.home, 'create', 'serviceaccount', 'prometheus'])
  const [role, account] = ['--clusterrole=elide-operator-metrics', `--serviceaccount=${bed.home}:prometheus`]
  await bed.cluster.kubectl(['create', 'clusterrolebinding', bed.home, role, account])
  // As in a pod, but for the addresses: nobody outside of the cluster reaches a Service.
  const env = { AUTH: 'token', WEBHOOKS: 'true', WEBHOOK_URL: 'https://127.0.0.1:0', WEBHOOK_PORT: '0' }
  operator = await bed.start('only', env, await bed.token('prometheus'))
  await operator.whenReady()
})

afterAll(async () => {
  await bed.cluster.kubectl(['delete', 'clusterrolebinding', bed.home])
  await bed.close()
})

/** `3 nginx:1.29`. */
const deployed = (name: string): Promise<string> =>
  bed.kubectl('get', 'deployment', name, '-o', 'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}')

const uidOf = async (kind: string, name: string): Promise<string> =>
  (await bed.cluster.runKubectl(['-n', bed.namespace, 'get', kind, name, '-o', 'jsonpath={.metadata.uid}'])).stdout

async function status(path: string, init?: RequestInit): Promise<number> {
  const answer = await operator.fetch(path, init)
  // To the end: who takes his answer slowly is waited for when the operator stops.
  await answer.text()
  return answer.status
}

describe('with kubectl', () => {
  test('an Application rolls out, is shown, waited for and scaled', async () => {
    await bed.apply('shop', { replicas: 3, image: IMAGE })
    await bed.whenReady('shop')
    const columns = (await bed.kubectl('get', 'app', 'shop')).split('\n').map((line) => line.split(/ +/))
    expect(columns.slice(0, 2)).toEqual([
      ['NAME', 'REPLICAS', 'READY', 'PHASE', 'AGE'],
      ['shop', '3', '3', 'Running', expect.stringMatching(/^\d+s$|^\d+m/)],
    ])
    expect(await bed.kubectl('get', 'all')).toContain('application.cloudnative.elide.dev/shop')
    expect(await bed.kubectl('rollout', 'status', 'deployment/shop')).toContain('successfully rolled out')
    expect(await bed.get('shop')).toMatchObject({
      metadata: {
        finalizers: ['cloudnative.elide.dev/finalizer'],
        labels: { 'app.kubernetes.io/managed-by': 'elide-operator' },
        annotations: { 'elide.dev/webhook-mutated': 'true' },
      },
      spec: { strategy: 'RollingUpdate' },
    })

    await bed.kubectl('scale', 'application/shop', '--replicas=5')
    await expect.poll(() => deployed('shop'), SOON).toBe(`5 ${IMAGE}`)
    await bed.kubectl('wait', '--for=jsonpath={.status.readyReplicas}=5', '--timeout=90s', 'application/shop')
    expect(await bed.kubectl('get', 'application', 'shop', '-o', 'jsonpath={.status.labelSelector}')).toContain(
      'app.kubernetes.io/instance=shop',
    )
    await expect
      .poll(() => bed.kubectl('get', 'events', '--field-selector', 'involvedObject.name=shop'), SOON)
      .toMatch(/Normal +Created/)
  })

  test('an autoscaler may hold an Application like any workload', async () => {
    await bed.apply('elastic', { replicas: 1, image: IMAGE })
    await bed.whenReady('elastic')
    await bed.cluster.kubectl(['apply', '-f', '-'], {
      stdin: {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'elastic', namespace: bed.namespace },
        spec: {
          scaleTargetRef: { apiVersion: 'cloudnative.elide.dev/v1', kind: 'Application', name: 'elastic' },
          // There are no metrics here: that there are fewer than the fewest is known without.
          minReplicas: 3,
          maxReplicas: 5,
        },
      },
    })
    await expect.poll(() => deployed('elastic'), { ...SOON, timeout: 150_000 }).toBe(`3 ${IMAGE}`)
    await bed.kubectl('wait', '--for=jsonpath={.status.readyReplicas}=3', '--timeout=90s', 'application/elastic')
    expect((await bed.get('elastic')).spec).toMatchObject({ replicas: 3 })
    await bed.kubectl('delete', 'hpa', 'elastic')
  })

  test('what others do to its Deployment is put right, and what is theirs stays', async () => {
    await bed.apply('kept', { replicas: 2, image: IMAGE })
    await bed.whenReady('kept')
    await bed.kubectl('annotate', 'deployment', 'kept', 'example.com/note=keep me')
    await bed.kubectl('patch', 'deployment', 'kept', '--type=merge', '-p', '{"spec":{"minReadySeconds":1}}')
    await bed.kubectl('scale', 'deployment', 'kept', '--replicas=7')
    await bed.kubectl('set', 'image', 'deployment/kept', '*=evil:1')
    await expect.poll(() => deployed('kept'), SOON).toBe(`2 ${IMAGE}`)
    const kept = ['-o', 'jsonpath={.metadata.annotations.example\\.com/note} {.spec.minReadySeconds}']
    expect(await bed.kubectl('get', 'deployment', 'kept', ...kept)).toBe('keep me 1')

    const before = await uidOf('deployment', 'kept')
    await bed.kubectl('delete', 'deployment', 'kept')
    await expect.poll(async () => (await uidOf('deployment', 'kept')) || before, SOON).not.toBe(before)
    await bed.whenReady('kept')
    await bed.kubectl('wait', '--for=jsonpath={.status.readyReplicas}=2', '--timeout=90s', 'application/kept')

    await bed.kubectl('annotate', 'application', 'kept', 'example.com/mine=too')
    await bed.apply('kept', { replicas: 1, image: `${IMAGE}-perl` })
    await expect.poll(() => deployed('kept'), SOON).toBe(`1 ${IMAGE}-perl`)
    expect((await bed.get('kept')).metadata.annotations).toMatchObject({ 'example.com/mine': 'too' })
  })

  test('an image that can not be pulled shows, and so does its repair', async () => {
    const podAnnotations = { 'tenure.dev/simulate-pull-failure': 'true' }
    await bed.apply('broken', { replicas: 2, image: IMAGE, podAnnotations })
    await bed.kubectl('wait', '--for=jsonpath={.status.phase}=Failed', '--timeout=90s', 'application/broken')
    const ready = (await bed.get('broken')).status?.conditions?.find(({ type }) => type === 'Ready')
    expect(ready).toMatchObject({ status: 'False', reason: 'ImagePullBackOff' })
    expect(ready?.['message']).toContain(IMAGE)

    await bed.apply('broken', { replicas: 2, image: IMAGE })
    await bed.whenReady('broken')
    expect((await bed.get('broken')).status).toMatchObject({ phase: 'Running', readyReplicas: 2 })
  })

  test('all optional objects are made, changed and taken away', async () => {
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
      bed.kubectl(
        'get',
        'configmap,pvc,service,deployment,job,hpa,ingress',
        '-l',
        'app.kubernetes.io/instance=full',
        '-o',
        'jsonpath={range .items[*]}{.kind} {end}',
      )
    await bed.apply('full', full)
    const all = 'ConfigMap PersistentVolumeClaim Service Deployment HorizontalPodAutoscaler Ingress '
    await expect.poll(names, SOON).toBe(all)
    await bed.apply('full', { replicas: 1, image: IMAGE })
    // A claim stays: data is not lost by an edit.
    await expect.poll(names, SOON).toBe('PersistentVolumeClaim Deployment ')
    await bed.apply('full', { replicas: 1, image: IMAGE, run: 'Once' })
    await expect.poll(names, SOON).toBe('PersistentVolumeClaim Job ')
  })

  test('a deleted Application takes everything along', async () => {
    await bed.kubectl('delete', 'applications', '--all', '--timeout=90s')
    expect(await bed.kubectl('get', 'applications', '-o', 'name')).toBe('')
    const left = (): Promise<string> =>
      bed.kubectl(
        'get',
        'configmap,pvc,service,deployment,replicaset,job,hpa,ingress,pods',
        '-l',
        'app.kubernetes.io/managed-by=elide-operator',
        '-o',
        'name',
      )
    await expect.poll(left, SOON).toBe('')
  })
})

describe('rights', () => {
  test('the manifest gives all that was needed', async () => {
    await bed.apply('counted', { replicas: 1, image: IMAGE })
    await bed.whenReady('counted')
    await bed.kubectl('delete', 'application', 'counted', '--timeout=90s')
    const metrics = await operator.metrics()
    expect(metrics).toMatch(/^rest_client_requests_total\{code="201",method="POST"/m)
    expect(metrics).toMatch(/^rest_client_requests_total\{code="200",method="PATCH"/m)
    expect(metrics).not.toMatch(/^rest_client_requests_total\{code="40[13]"/m)
    expect(metrics).toMatch(/^webhook_requests_total\{webhook="validate",operation="CREATE",allowed="true"\} [1-9]/m)
    expect(operator.complaints).toEqual([])
  })

  test("the manifest's Deployment rolls out, three times over", async () => {
    const stdin = await bed.deployed((kind) => kind === 'Deployment')
    await bed.cluster.kubectl(['apply', '-f', '-'], { stdin })
    await bed.cluster.kubectl(['-n', bed.home, 'rollout', 'status', `deployment/${OPERATOR}`, '--timeout=90s'])
    const pods = await bed.cluster.kubectl(['-n', bed.home, 'get', 'pods', '-l', `app=${OPERATOR}`, '-o', 'name'])
    expect(pods.trim().split('\n')).toHaveLength(3)
  })

  test('callers need a token, and the rights that RBAC gives them', async () => {
    const route = `/apis/cloudnative.elide.dev/v1/namespaces/${bed.namespace}/applications`
    const authorization = `Bearer ${await bed.token('elide-operator')}`
    const nobody = { headers: { authorization: 'Bearer nonsense' } }
    expect([await status('/readyz', nobody), await status('/healthz', nobody)]).toEqual([200, 200])
    expect([await status('/metrics', nobody), await status(route, nobody)]).toEqual([401, 401])
    expect([await status('/metrics'), await status(route)]).toEqual([200, 403])
    const known = { headers: { authorization } }
    expect([await status('/metrics', known), await status(route, known)]).toEqual([403, 200])
  })

  test('an operator for one namespace needs a Role there, and none elsewhere', async () => {
    const { home, namespace } = bed
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
      rbac('Role', { namespace: home }, { rules: homeRules(rights) }),
      rbac('RoleBinding', { namespace: home }, { roleRef: roleRef('Role'), subjects }),
    ]
    await bed.stop(operator)
    await bed.cluster.kubectl(['delete', 'validatingwebhookconfiguration,mutatingwebhookconfiguration', OPERATOR])
    await bed.cluster.kubectl(['-n', home, 'create', 'serviceaccount', account])
    await bed.cluster.kubectl(['apply', '-f', '-'], { stdin: { apiVersion: 'v1', kind: 'List', items } })
    const KUBECONFIG = await bed.writeKubeconfig(account)
    const modest = await bed.start(account, { KUBECONFIG, WATCH_NAMESPACE: namespace, INSTALL_DEFINITIONS: 'false' })
    await modest.whenReady()
    await bed.apply('modest', { replicas: 1, image: IMAGE })
    await bed.whenReady('modest')
    await bed.kubectl('delete', 'application', 'modest', '--timeout=90s')
    expect(modest.complaints).toEqual([])
    await bed.cluster.kubectl(['delete', 'clusterrole,clusterrolebinding', name])
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
  ])('can-i %o: %s', async (question, answer) => {
    const { kubeconfig } = bed
    const where = question.map((word) => (word === 'home' ? bed.home : word))
    const { stdout } = await bed.cluster.runKubectl(['auth', 'can-i', ...where], { kubeconfig })
    expect(stdout.trim()).toBe(answer)
  })
})
