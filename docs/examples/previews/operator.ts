import { json, route } from '@tenure/http'
import { defineKind, type KubeObject, type Stored } from '@tenure/kube'
import { type CustomResourceDefinition, Deployment } from '@tenure/kube/kinds'
import { apply, controller, defineOperator, type OperatorContext, rule } from '@tenure/runtime'
import { allow, deny, validating } from '@tenure/runtime/webhooks'

/** A Deployment that exists for some minutes. */
export interface Preview extends KubeObject {
  readonly spec: { readonly image: string; readonly minutes: number }
  readonly status?: { readonly isReady: boolean }
}
export const Preview = defineKind<Preview>({ apiVersion: 'example.dev/v1', kind: 'Preview' })

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
const definition: CustomResourceDefinition = {
  metadata: { name: 'previews.example.dev' },
  spec: {
    group: 'example.dev',
    scope: 'Namespaced',
    names: { kind: 'Preview', plural: 'previews' },
    versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema }],
  },
}

const previewController = controller(Preview, {
  owns: [Deployment],
  plan: ({ object }) => [apply(Deployment, deploymentFor(object))],
  status: ({ object, owned }) => ({ isReady: owned(Deployment, object.metadata.name)?.status?.readyReplicas === 1 }),
  expiresAt: ({ metadata, spec }) => Date.parse(metadata.creationTimestamp) + spec.minutes * 60_000,
})

function deploymentFor({ metadata: { name }, spec: { image } }: Stored<Preview>): Deployment {
  const labels = { preview: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } }
  return { metadata: { name, labels }, spec: { selector: { matchLabels: labels }, template } }
}

const limitMinutes = ({ metrics }: OperatorContext) => {
  const denied = metrics.counter({ name: 'previews_denied_total', help: 'Number of denied Previews.' }).with({})
  return validating({
    name: 'limit.previews.example.dev',
    kind: Preview,
    failurePolicy: 'Fail',
    validate({ object }) {
      if ((object?.spec.minutes ?? 0) <= 60) return allow()
      denied.inc()
      return deny('spec.minutes must be at most 60.')
    },
  })
}

const listPreviews = ({ informers }: OperatorContext) => {
  const { cache } = informers.informer(Preview)
  return route({
    method: 'GET',
    path: '/previews',
    summary: 'Names of all Previews',
    responses: { 200: { description: 'A list of names' } },
    handle: () =>
      json(
        200,
        Array.from(cache.list(), ({ metadata }) => metadata.name),
      ),
  })
}

export const previews = defineOperator({
  name: 'previews',
  crds: [definition],
  rbac: {
    cluster: [
      rule(Preview, ['get', 'list', 'watch', 'delete']),
      rule(Preview, ['patch'], 'status'),
      rule(Deployment, ['list', 'watch', 'create', 'patch']),
    ],
  },
  setup: (context) => ({
    controllers: [previewController],
    webhooks: [limitMinutes(context)],
    routes: [listPreviews(context)],
  }),
})
