import { randomBytes } from 'node:crypto'

import type { Kind, KubeApi, KubeObject } from '@tenure/kube'
import { defineKind, isNotFound } from '@tenure/kube'
import { CustomResourceDefinition } from '@tenure/kube/kinds'

import { until } from './until.ts'

export interface CustomResourceOptions {
  readonly kind: string
  /** The schema of `spec`. Default: preserves unknown fields. */
  readonly spec?: object
  readonly shortNames?: readonly string[]
}

export interface CustomResource<T extends KubeObject> {
  readonly kind: Kind<T>
  /** Creates the definition and waits until the API server serves it. */
  install(): Promise<void>
  /** Deletes it with all its objects and waits until the API server no longer serves it. */
  uninstall(): Promise<void>
}

/** A custom resource with status and scale, in a new group per run. */
export function customResource<T extends KubeObject>(api: KubeApi, options: CustomResourceOptions): CustomResource<T> {
  const group = `t${randomBytes(3).toString('hex')}.tenure.test`
  const kind = defineKind<T>({ apiVersion: `${group}/v1`, kind: options.kind })
  const name = `${kind.plural}.${group}`
  const isServed = (): Promise<boolean> =>
    api.list(kind).then(
      () => true,
      (error: unknown) => {
        if (isNotFound(error)) return false
        throw error
      },
    )
  return {
    kind,
    async install() {
      await api.create(CustomResourceDefinition, definition(name, kind, options))
      await until(`${name} is served`, isServed)
    },
    async uninstall() {
      await api.delete(CustomResourceDefinition, { name })
      await until(`${name} is no longer served`, async () => !(await isServed()))
      // The name is free only after the definition is gone, not when it is no longer served.
      await until(`${name} is gone`, async () => !(await isThere(api, name)))
    },
  }
}

async function isThere(api: KubeApi, name: string): Promise<boolean> {
  const { items } = await api.list(CustomResourceDefinition, { fieldSelector: `metadata.name=${name}` })
  return items.length > 0
}

function definition(name: string, kind: Kind, options: CustomResourceOptions): CustomResourceDefinition {
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    metadata: { name },
    spec: {
      group: kind.group,
      scope: 'Namespaced',
      names: {
        kind: kind.kind,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        listKind: `${kind.kind}List`,
        shortNames: options.shortNames ?? [],
      },
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', properties: { spec: options.spec ?? anything, status: anything } },
          },
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
          },
        },
      ],
    },
  }
}
