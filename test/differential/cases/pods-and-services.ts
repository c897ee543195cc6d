/** Pods and services with many or unusual fields. */
import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { container, pod, service } from '../objects.ts'
import { core, create, MERGE_PATCH, patch, remove } from '../steps.ts'

const made = (title: string, spec: JsonObject, status = 201, metadata: JsonObject = {}): Case => ({
  name: `pod ${title}`,
  hasPods: true,
  steps: [create(`${core('pods')}?dryRun=All`, pod('a', spec, metadata), { status, unordered: true })],
})
const one = (more: JsonObject): JsonObject => ({ containers: [container('web', more)] })

const PODS: readonly Case[] = [
  made(
    'with probes',
    one({
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { tcpSocket: { port: 'web' } },
      startupProbe: { exec: { command: ['x'] }, failureThreshold: 3 },
    }),
  ),
  made('with two ways to be probed', one({ livenessProbe: { httpGet: { port: 80 }, exec: { command: ['x'] } } }), 422),
  made('with no way to be probed', one({ livenessProbe: {} }), 422),
  made(
    'with odd probes',
    one({ livenessProbe: { httpGet: { port: 0, path: '', scheme: 'odd' }, periodSeconds: -1, successThreshold: 2 } }),
    422,
  ),
  made(
    'with variables',
    one({
      env: [
        { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'B', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        { name: 'C', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      ],
    }),
  ),
  made(
    'with odd variables',
    one({
      env: [
        { name: '' },
        { name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.odd' } } },
        { name: 'B', valueFrom: {} },
        { name: 'C', valueFrom: { configMapKeyRef: { name: '', key: 'bad key' } } },
      ],
    }),
    422,
  ),
  made('with volumes', {
    containers: [
      container('web', {
        volumeMounts: [
          { name: 'v', mountPath: '/v' },
          { name: 'w', mountPath: '/w', subPath: 'a' },
        ],
      }),
    ],
    volumes: [
      { name: 'v', configMap: { name: 'c' } },
      { name: 'w', secret: { secretName: 's' } },
      { name: 'x', downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      { name: 'y', hostPath: { path: '/x' } },
      { name: 'z', projected: { sources: [{ secret: { name: 'a' } }] } },
      { name: 'e', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'pvc', persistentVolumeClaim: { claimName: 'c' } },
      {
        name: 'eph',
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        },
      },
    ],
  }),
  made(
    'with odd volumes',
    {
      containers: [
        container('web', {
          volumeMounts: [
            { name: 'none', mountPath: '/v' },
            { name: 'v', mountPath: '' },
            { name: 'v', mountPath: '/x' },
            { name: 'v', mountPath: '/x', subPath: '../x' },
          ],
        }),
      ],
      volumes: [
        { name: 'v', emptyDir: {}, hostPath: { path: '/x' } },
        { name: 'v', emptyDir: {} },
        { name: 'Bad_', emptyDir: {} },
        { name: 'n', secret: {} },
        { name: 'c', configMap: { name: 'x', items: [{ key: 'a', path: '../x' }] } },
      ],
    },
    422,
  ),
  made(
    'with odd wishes where to be',
    {
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 500, podAffinityTerm: { topologyKey: '' } }],
        },
      },
      tolerations: [
        { operator: 'Odd' },
        { key: 'a', operator: 'Exists', value: 'x' },
        { effect: 'Odd', operator: 'Exists' },
      ],
      topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Odd' }],
    },
    422,
  ),
  made(
    'that is odd about who it is',
    {
      securityContext: { runAsUser: -1, sysctls: [{ name: 'bad name', value: '' }], fsGroup: -5 },
      containers: [
        container('web', {
          securityContext: { privileged: true, allowPrivilegeEscalation: false, capabilities: { add: ['X'] } },
        }),
      ],
    },
    422,
  ),
  made('that says who it is', {
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      container('web', { securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } } }),
    ],
  }),
  made(
    'with amounts',
    one({
      resources: {
        requests: { cpu: '100m', memory: '1Gi', 'example.com/gpu': '1' },
        limits: { 'example.com/gpu': '1', memory: '2Gi' },
      },
    }),
  ),
  made(
    'with odd amounts',
    one({
      resources: { requests: { cpu: '-1', odd: '1', 'example.com/gpu': '1.5' }, limits: { 'example.com/gpu': '2' } },
    }),
    422,
  ),
  made('with an amount that is none', one({ resources: { requests: { cpu: 'lots' } } }), 400),
  made(
    'with hooks',
    one({
      lifecycle: { preStop: { exec: { command: ['a'] } }, postStart: { httpGet: { port: 80 } } },
      terminationMessagePolicy: 'FallbackToLogsOnError',
      workingDir: '/x',
      stdin: true,
      tty: true,
    }),
  ),
  made(
    'with odd ports',
    one({
      ports: [
        { containerPort: 80, name: 'web' },
        { containerPort: 81, name: 'web' },
        { containerPort: 80, hostPort: 80 },
        { containerPort: 0 },
        { containerPort: 5, name: 'Bad_Name', protocol: 'X' },
      ],
    }),
    422,
  ),
  made('with containers before it', {
    initContainers: [container('i', { restartPolicy: 'Always' }), container('j')],
    containers: [container('web')],
  }),
  made(
    'with odd containers before it',
    {
      initContainers: [
        container('web'),
        container('j', { restartPolicy: 'Odd', lifecycle: { preStop: { exec: { command: ['x'] } } } }),
      ],
      containers: [container('web')],
    },
    422,
  ),
  made('with a container for a while', { ephemeralContainers: [{ name: 'x', image: 'y' }] }, 422),
  made('with no name servers', { dnsPolicy: 'None' }, 422),
  made('with name servers of its own', {
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['1.1.1.1'], options: [{ name: 'x' }] },
    hostAliases: [{ ip: '1.2.3.4', hostnames: ['a'] }],
    hostname: 'h',
    subdomain: 's',
    hostNetwork: true,
    shareProcessNamespace: true,
    enableServiceLinks: false,
    readinessGates: [{ conditionType: 'x/y' }],
    priorityClassName: 'system-node-critical',
  }),
  made(
    'with odd names',
    {
      dnsPolicy: 'Odd',
      dnsConfig: { nameservers: ['x'] },
      hostAliases: [{ ip: 'x', hostnames: ['B_'] }],
      hostname: 'H_',
      subdomain: 'S_',
      activeDeadlineSeconds: 0,
      terminationGracePeriodSeconds: -1,
      nodeSelector: { 'a b': 'c' },
      schedulingGates: [{ name: 'a b' }],
      imagePullSecrets: [{}],
      os: { name: 'odd' },
    },
    422,
  ),
  made('of a runtime that is not there', { runtimeClassName: 'none' }, 403),
  made('of a priority that is not there', { priorityClassName: 'none' }, 403),
  made('of an account that is not there', { serviceAccountName: 'none' }, 403),
  made(
    'with odd containers',
    {
      containers: [{ name: 'a', image: 'b' }, { name: 'a', image: '' }, { name: 'Bad_', image: ' x ' }, { image: 'x' }],
    },
    422,
  ),
  made('with odd metadata', {}, 422, {
    labels: { 'a/b/c': 'x', b: 'not ok!' },
    annotations: { 'A B': 'x' },
    ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }],
  }),
  made('with two controllers', {}, 422, {
    ownerReferences: [
      { apiVersion: 'v1', kind: 'A', name: 'a', uid: 'a', controller: true },
      { apiVersion: 'v1', kind: 'A', name: 'b', uid: 'b', controller: true },
    ],
  }),
]

const services = core('services')
const svc = core('services', 'a')
const offered = (title: string, ...steps: Case['steps']): Case => ({ name: `service ${title}`, steps })

const SERVICES: readonly Case[] = [
  offered(
    'of many types',
    create(services, service('a', { type: 'NodePort', ports: [{ port: 80, nodePort: 99 }] }), {
      status: 422,
    }),
    create(services, service('a', { type: 'ExternalName' }), { status: 422 }),
    create(services, service('a', { type: 'ExternalName', externalName: 'example.test', ports: [] })),
    patch(MERGE_PATCH, svc, { spec: { type: 'ClusterIP', externalName: null, ports: [{ port: 80 }] } }),
    patch(MERGE_PATCH, svc, { spec: { clusterIP: '10.0.0.77' } }, { status: 422 }),
    patch(MERGE_PATCH, svc, { spec: { clusterIP: null } }),
    patch(MERGE_PATCH, svc, {
      spec: { type: 'ExternalName', externalName: 'x.test', clusterIP: null, clusterIPs: null },
    }),
    remove(svc),
  ),
  offered(
    'with odd wishes',
    create(services, service('a', { clusterIP: 'None' })),
    patch(MERGE_PATCH, svc, { spec: { clusterIP: '' } }),
    create(services, service('b', { clusterIP: '1.2.3.4' }), { status: 422 }),
    create(services, service('c', { clusterIP: 'x' }), { status: 422 }),
    create(services, service('d', { sessionAffinity: 'ClientIP' })),
    create(
      services,
      service('e', { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } }),
      { status: 422 },
    ),
    create(services, service('f', { externalTrafficPolicy: 'Local' }), { status: 422 }),
    create(services, service('g', { ports: [{ port: 80, targetPort: 'bad_name' }] }), { status: 422 }),
    create(services, service('h', { ports: [{ port: 80, protocol: 'ODD' }] }), { status: 422 }),
    create(
      services,
      service('i', {
        ports: [
          { name: 'a', port: 80 },
          { name: 'a', port: 81 },
        ],
      }),
      { status: 422 },
    ),
    create(
      services,
      service('j', {
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 80 },
        ],
      }),
      { status: 422 },
    ),
    create(services, service('k', { type: 'LoadBalancer', loadBalancerSourceRanges: ['x'] }), {
      status: 422,
    }),
    create(services, service('l', { ipFamilyPolicy: 'RequireDualStack' }), { status: 422 }),
  ),
]

export const podCases: CaseGroup = { name: 'pods and services', cases: [...PODS, ...SERVICES] }
