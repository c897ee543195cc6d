import { chartOperators } from './operators.ts'
import { settingsSchema } from './settings.ts'

type Schema = Readonly<Record<string, unknown>>

const text: Schema = { type: 'string' }
const flag: Schema = { type: 'boolean' }
const required: Schema = { type: 'string', minLength: 1 }
const port: Schema = { type: 'integer', minimum: 1, maximum: 65_535 }
const texts: Schema = { type: 'object', additionalProperties: { type: 'string' } }
/** Checked by the API server. */
const free: Schema = { type: 'object' }
const list: Schema = { type: 'array', items: { type: 'object' } }

const object = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
})

const image = {
  repository: required,
  tag: { type: ['string', 'number'] },
  digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
}
const pullPolicy: Schema = { enum: ['Always', 'IfNotPresent', 'Never'] }
const service = { type: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] }, annotations: texts }
const interval: Schema = { type: 'string', pattern: '^[0-9]+(ms|s|m|h)$' }

/** The values that every operator has. */
const common: Readonly<Record<string, Schema>> = {
  enabled: flag,
  replicaCount: { type: 'integer', minimum: 0 },
  service: object(service),
  serviceAccount: object({ create: flag, name: text, annotations: texts }),
  podDisruptionBudget: object({
    enabled: flag,
    maxUnavailable: {
      anyOf: [
        { type: 'integer', minimum: 0 },
        { type: 'string', pattern: '^[0-9]+%$' },
      ],
    },
  }),
  resources: free,
  podAnnotations: texts,
  podLabels: texts,
  nodeSelector: texts,
  tolerations: list,
  affinity: free,
  priorityClassName: text,
  topologySpreadConstraints: list,
  env: list,
}

const tls = object({ secretName: text })

/** The values of one operator besides the common ones, by its key. */
const own: Readonly<Record<string, Readonly<Record<string, Schema>>>> = {
  applications: { tls, service: object({ ...service, port }) },
  leaseControllers: {
    sharedKinds: {
      type: 'array',
      items: { ...object({ group: text, plural: required }), required: ['group', 'plural'] },
    },
  },
  claims: {
    tls,
    service: object({ ...service, port }),
    template: text,
    templateValues: text,
    files: { ...texts, propertyNames: { pattern: '^[-._a-zA-Z0-9]+$', not: { enum: ['config.json'] } } },
    rbac: object({ templateRules: list, secrets: flag }),
  },
  databases: {
    database: object({
      host: text,
      port,
      user: required,
      name: required,
      sslMode: { enum: ['disable', 'require', 'verify-ca', 'verify-full'] },
      passwordSecret: { ...object({ name: required, key: required }), required: ['name', 'key'] },
    }),
  },
}

/** values.schema.json, with the settings of each operator's table. */
export function valuesSchema(): string {
  const operators = chartOperators.map((given) => [
    given.key,
    object({ ...common, settings: settingsSchema(given) as Schema, ...own[given.key] }),
  ])
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Values of the chart tenure',
    ...object({
      // Helm passes the values of a parent chart.
      global: free,
      nameOverride: text,
      fullnameOverride: text,
      labels: texts,
      image: object({ ...image, pullPolicy }),
      cleanupImage: object(image),
      imagePullSecrets: list,
      log: object({ level: { enum: ['debug', 'info', 'warn', 'error'] }, format: { enum: ['json', 'text'] } }),
      crds: object({ installedBy: { enum: ['chart', 'operator', 'none'] }, keep: flag }),
      rbac: object({ create: flag, aggregate: flag }),
      podSecurityContext: free,
      securityContext: free,
      networkPolicy: object({ enabled: flag, from: list, metricsFrom: list, egress: list }),
      monitoring: object({
        serviceMonitor: object({ enabled: flag, interval, labels: texts, authorization: free }),
        podMonitor: object({ enabled: flag, interval, labels: texts }),
        prometheusRule: object({ enabled: flag, labels: texts }),
        prometheus: object({ namespace: text, serviceAccount: text }),
        dashboard: object({ enabled: flag, labels: texts }),
      }),
      ...Object.fromEntries(operators),
      extraObjects: { type: 'array', items: { type: ['object', 'string'] } },
    }),
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}
