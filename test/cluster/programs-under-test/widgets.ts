/** A small operator for fault tests: a Widget has a ConfigMap, a Service and a Deployment without pods. */
import { defineKind, type KubeObject, type Stored } from '@tenure/kube'
import { ConfigMap, Deployment, Service } from '@tenure/kube/kinds'
import {
  apply,
  type CallEffect,
  call,
  controller,
  type ControllerDefinition,
  type ControllerOptions,
  status,
} from '@tenure/runtime'

export const GROUP = 'controller.tenure.test'
export const FINALIZER = `${GROUP}/cleanup`

export interface Widget extends KubeObject {
  readonly spec: { readonly color: string; readonly child?: string }
  readonly status?: { readonly color: string; readonly children: number }
}
export const Widget = defineKind<Widget>({ apiVersion: `${GROUP}/v1`, kind: 'Widget' })

export interface WidgetsOptions {
  readonly namespace: string
  /** The effect of cleanup. Default: none. */
  readonly onCleanup?: CallEffect
  readonly concurrency?: number
  readonly backoff?: NonNullable<ControllerOptions<Widget>['backoff']>
}

export function widgetController(options: WidgetsOptions): ControllerDefinition<Widget> {
  const { namespace, onCleanup = () => {}, concurrency, backoff } = options
  const selection = { namespace }
  return controller(Widget, {
    selection,
    owns: [ConfigMap, Deployment, Service].map((kind) => ({ kind, selection })),
    finalizer: FINALIZER,
    ...(concurrency !== undefined && { concurrency }),
    ...(backoff !== undefined && { backoff }),
    plan({ object, owned }) {
      const children = owned(ConfigMap).length + owned(Deployment).length + owned(Service).length
      return [
        apply(ConfigMap, configMapOf(object)),
        apply(Deployment, deploymentOf(object)),
        apply(Service, serviceOf(object)),
        status({ color: object.spec.color, children }),
      ]
    },
    cleanup: () => [call('clean up', onCleanup)],
  })
}

function configMapOf({ metadata, spec }: Stored<Widget>): ConfigMap {
  return { metadata: { name: spec.child ?? metadata.name }, data: { color: spec.color } }
}

function serviceOf({ metadata }: Stored<Widget>): Service {
  return {
    metadata: { name: metadata.name },
    spec: { selector: { widget: metadata.name }, ports: [{ port: 80, targetPort: 8080 }] },
  }
}

/** Contains values that the server normalizes. */
function deploymentOf({ metadata, spec }: Stored<Widget>): Deployment {
  const labels = { widget: metadata.name }
  return {
    metadata: { name: metadata.name, labels },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'main',
              image: `widget:${spec.color}`,
              resources: { requests: { cpu: '1000m', memory: '1024Mi' }, limits: { cpu: '1.5', memory: '2048Mi' } },
              env: [
                { name: 'COLOR', value: spec.color },
                { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
              ],
              ports: [{ containerPort: 8080 }],
            },
          ],
          volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '1000Mi' } }],
        },
      },
    },
  }
}

/** Returns the CustomResourceDefinition for kubectl, optionally under another kind. */
export function widgetCrd(kind = 'Widget'): object {
  const singular = kind.toLowerCase()
  const plural = `${singular}s`
  const text = { type: 'string' }
  const type = 'object'
  const spec = { type, properties: { color: text, child: text } }
  const status = { type, properties: { color: text, children: { type: 'integer' } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind, plural, singular },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type, properties: { spec, status } } },
        },
      ],
    },
  }
}
