import { defineKind } from '@tenure/kube'
import { type AdmissionRequest, allow, deny, validating, type Webhook, type WebhookRule } from '@tenure/runtime'
import type { LeaseFamily } from '../api/annotations.ts'
import { defaultLeaseSettings } from '../api/types.ts'
import { annotationProblems, type Annotations } from './problems.ts'

export interface LeaseAdmissionOptions {
  /** Default: the seed's and the newer. */
  readonly families?: readonly LeaseFamily[]
  /** Which objects are looked at. Default: all of every kind; the API server asks only about those with our annotations. */
  readonly rules?: readonly WebhookRule[]
  /**
   * What becomes of a write while the webhook does not answer. Default `Ignore`: a lease controller finds the same
   * mistakes later and deletes nothing, so that no cluster need stand still for it.
   */
  readonly failurePolicy?: 'Fail' | 'Ignore'
}

const EVERYTHING: readonly WebhookRule[] = [
  { apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['*'], scope: '*' },
]

/** Any kind may be leased; the rules say which are looked at. */
const AnyKind = defineKind({ apiVersion: 'v1', kind: 'LeasedObject' })

/** Refuses lease annotations that make no sense, with the reason, when they are written instead of when they are read. */
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

/** CEL, for the API server: all others never leave it. */
function hasAnnotations(families: readonly LeaseFamily[]): string {
  const starts = families.map(({ prefix }) => `name.startsWith(${JSON.stringify(prefix)})`)
  return `has(object.metadata.annotations) && object.metadata.annotations.exists(name, ${starts.join(' || ')})`
}

/**
 * What is wrong, and was not before: who writes something else on an object with an old mistake must be able to, be it
 * only to take away its finalizers.
 */
function newProblems(request: AdmissionRequest, families: readonly LeaseFamily[]): readonly string[] {
  const now: Annotations = request.object?.metadata?.annotations ?? {}
  const before: Annotations = request.oldObject?.metadata?.annotations ?? {}
  // The request about a Namespace names that very namespace, which it is not in.
  const { group, resource } = request.resource
  const isNamespaced = Boolean(request.namespace) && !(group === '' && resource === 'namespaces')
  return annotationProblems(now, families, isNamespaced)
    .filter(({ involved }) => involved.some((name) => now[name] !== before[name]))
    .map(({ annotation, reason }) => `${annotation}: ${reason}.`)
}
