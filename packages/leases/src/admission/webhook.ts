import { defineKind } from '@tenure/kube'
import {
  type AdmissionRequest,
  allow,
  deny,
  validating,
  type Webhook,
  type WebhookRule,
} from '@tenure/runtime/webhooks'
import type { LeaseFamily } from '../api/annotations.ts'
import { defaultLeaseSettings } from '../api/types.ts'
import { annotationProblems, type Annotations } from './problems.ts'

export interface LeaseAdmissionOptions {
  /** Default: the seed's and the newer family. */
  readonly families?: readonly LeaseFamily[]
  /** Objects to check. Default: every kind; match conditions limit requests to objects with lease annotations. */
  readonly rules?: readonly WebhookRule[]
  /**
   * Default `Ignore`: the lease controller finds the same mistakes later and deletes nothing, so an unavailable webhook
   * does not need to block writes.
   */
  readonly failurePolicy?: 'Fail' | 'Ignore'
}

const EVERYTHING: readonly WebhookRule[] = [
  { apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['*'], scope: '*' },
]

/** A placeholder: the rules decide which kinds are checked. */
const AnyKind = defineKind({ apiVersion: 'v1', kind: 'LeasedObject' })

/** Refuses invalid lease annotations at admission, with the reason. */
export function leaseAnnotationsWebhook(options: LeaseAdmissionOptions = {}): Webhook {
  const { families = defaultLeaseSettings.families, rules = EVERYTHING, failurePolicy = 'Ignore' } = options
  return validating({
    name: 'annotations.object-lease-controller.ullberg.us',
    kind: AnyKind,
    path: '/validate-lease-annotations',
    rules,
    failurePolicy,
    timeoutSeconds: 5,
    matchConditions: [{ name: 'has-lease-annotations', expression: hasAnnotations(families) }],
    validate: (request) => {
      const problems = newProblems(request, families)
      return problems.length === 0 ? allow() : deny(problems.join(' '), { code: 422, reason: 'Invalid' })
    },
  })
}

/** A CEL expression: the API server does not call the webhook for other objects. */
function hasAnnotations(families: readonly LeaseFamily[]): string {
  const starts = families.map(({ prefix }) => `name.startsWith(${JSON.stringify(prefix)})`)
  return `has(object.metadata.annotations) && object.metadata.annotations.exists(name, ${starts.join(' || ')})`
}

/**
 * Problems that this request introduces. An object with an old problem must stay writable, for example to remove its
 * finalizers.
 */
function newProblems(request: AdmissionRequest, families: readonly LeaseFamily[]): readonly string[] {
  const now: Annotations = request.object?.metadata?.annotations ?? {}
  const before: Annotations = request.oldObject?.metadata?.annotations ?? {}
  // A request about a Namespace carries its own name as the namespace, but the kind is cluster-scoped.
  const { group, resource } = request.resource
  const isNamespaced = Boolean(request.namespace) && !(group === '' && resource === 'namespaces')
  return annotationProblems(now, families, isNamespaced)
    .filter(({ involved }) => involved.some((name) => now[name] !== before[name]))
    .map(({ annotation, reason }) => `${annotation}: ${reason}.`)
}
