import type { Route } from '@tenure/http'
import { described, json, route } from '@tenure/http'
import type { OperatorContext } from '@tenure/runtime'
import { z } from 'zod'
import { Application, GROUP, VERSION } from '../api/index.ts'
import { applicationDefinition } from '../api/crd.ts'
import type { ApplicationRoutesOptions } from './options.ts'
import type { ApplicationStore } from './store.ts'

const FEATURES = [
  'Custom resource definitions with schema validation',
  'Reconciliation with finalizers, work queues and exponential backoff',
  'Admission webhooks',
  'Leader election',
  'Prometheus metrics',
  'Event history with aggregation',
  'Live watch (server-sent events)',
  'Health and readiness probes',
  'Multi-namespace support',
]

const RESOURCES = `/apis/${GROUP}/${VERSION}`
const ENDPOINTS = {
  health: '/healthz',
  readiness: '/readyz',
  metrics: '/metrics',
  crd: '/crd',
  crds: '/crds',
  webhookValidate: '/validate',
  webhookMutate: '/mutate',
  leader: '/leader',
  resources: `${RESOURCES}/namespaces/{namespace}/${Application.plural}`,
  allResources: `${RESOURCES}/${Application.plural}`,
  watch: '/watch',
  events: '/events',
}

const definition = described({ type: 'object', description: 'A CustomResourceDefinition for kubectl apply' })

const about = z.object({
  name: z.string(),
  version: z.string(),
  features: z.array(z.string()),
  resources: z.int(),
  isLeader: z.boolean(),
  endpoints: z.record(z.string(), z.string()),
})

/** Routes that describe the operator and its CustomResourceDefinitions. */
export function aboutRoutes(
  context: OperatorContext,
  store: ApplicationStore,
  options: ApplicationRoutesOptions,
): readonly Route[] {
  const { version = '0.1.0', definitions = [applicationDefinition] } = options
  return [
    route({
      method: 'GET',
      path: '/',
      summary: 'Describe the operator and its endpoints',
      tags: ['meta'],
      responses: { 200: { description: 'About this operator', schema: about } },
      handle: () =>
        json(
          200,
          {
            name: 'Production Kubernetes Operator',
            version,
            features: FEATURES,
            resources: store.informer.cache.size,
            isLeader: context.isLeader(),
            endpoints: ENDPOINTS,
          },
          { headers: { vary: 'accept' } },
        ),
    }),
    route({
      method: 'GET',
      path: '/crd',
      summary: 'The CustomResourceDefinition of Application',
      tags: ['meta'],
      indent: 2,
      responses: { 200: { description: 'A CustomResourceDefinition', schema: definition } },
      handle: () => json(200, definitions[0]),
    }),
    route({
      method: 'GET',
      path: '/crds',
      summary: 'All CustomResourceDefinitions of this operator',
      tags: ['meta'],
      indent: 2,
      responses: {
        200: { description: 'CustomResourceDefinitions', schema: z.object({ items: z.array(definition) }) },
      },
      handle: () => json(200, { items: definitions }),
    }),
  ]
}
