import type { LeaseControllerSpec } from '../../api/lease-controller.ts'

/** The kind that a LeaseController asks for, before it is resolved. */
export interface WantedKind {
  /** Empty: the core group, or the only group that serves the kind. */
  readonly group: string
  /** Undefined: the preferred version. */
  readonly version: string | undefined
  /** Names that the resource must have: the kind, its singular or its plural. At least one. */
  readonly names: readonly string[]
}

export type Target =
  | { readonly ok: true; readonly wanted: WantedKind }
  | { readonly ok: false; readonly reason: string }

/** Reads both forms of `spec.kind`. The schema leaves its type open, so other values are refused here. */
export function targetOf(spec: Pick<LeaseControllerSpec, 'group' | 'version' | 'kind'>): Target {
  const { group = '', version, kind } = spec
  const names = namesOf(kind)
  if (names.length === 0) {
    return {
      ok: false,
      reason:
        'spec.kind must be the name of a kind, such as Deployment, or {singular: Deployment, plural: deployments}.',
    }
  }
  return { ok: true, wanted: { group, version: version || undefined, names } }
}

function namesOf(kind: unknown): readonly string[] {
  if (typeof kind === 'string') return kind === '' ? [] : [kind]
  if (typeof kind !== 'object' || kind === null) return []
  const { singular, plural } = kind as { readonly singular?: unknown; readonly plural?: unknown }
  return [plural, singular].filter((name) => typeof name === 'string').filter((name) => name !== '')
}

/** `Deployment (apps/v1)`, for messages. */
export function describeWanted({ group, version, names }: WantedKind): string {
  const place = [group, version].filter(Boolean).join('/')
  const name = names.join('/')
  return place ? `${name} (${place})` : name
}
