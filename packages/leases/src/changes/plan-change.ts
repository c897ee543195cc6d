import type { PartialObjectMetadata, Stored } from '@tenure/kube'
import { TenureError } from '@tenure/kube'
import { type LeaseFamily, STATUS_ANNOTATIONS, USER_ANNOTATIONS } from '../api/annotations.ts'
import { ceilSecond, floorSecond, formatTime, isWritable } from '../api/time.ts'
import { formatTtl, MAX_TTL_MS } from '../api/ttl.ts'
import { hasInheritedAnnotations } from '../controllers/lease/inherited-annotations.ts'
import { planLease } from '../controllers/lease/plan.ts'
import type { Changes } from '../controllers/lease/status.ts'
import { type LeaseTarget, resourceName } from './lease-target.ts'
import { invalidTerms, readTerms, readTtl, refused, startOf, type Terms } from './terms.ts'

/** A shorter TTL ends at once: annotations have whole seconds. */
const MIN_TTL_MS = 1_000

/** The state that a change is planned from. */
export interface LeaseChangeContext {
  readonly target: LeaseTarget
  readonly current: Stored<PartialObjectMetadata>
  readonly families: readonly LeaseFamily[]
  /** Milliseconds since 1970, by the server's clock. */
  readonly now: number
}

/** A change of a lease by a user. */
export interface LeaseChange {
  /** Annotations to write. */
  readonly changes: Changes
  /** The lease after the change; undefined if the object has none then. */
  readonly terms: Terms | undefined
}

export interface SetLeaseOptions {
  /** Whether updates of the object start its TTL again. Default: as it is. */
  readonly renewOn?: 'update' | 'never' | undefined
}

/** A lease that starts now, a time of expiry, or `forever`. Throws a LeaseRefusal. */
export function planSet(context: LeaseChangeContext, text: string, { renewOn }: SetLeaseOptions = {}): LeaseChange {
  const { now } = context
  checkAnswered(context)
  const terms = readTerms(text, now)
  checkNotOver(context, terms)
  const family = familyOf(context)
  const renewal = renewOn === undefined ? {} : { [family.names.renewOn]: renewOn === 'never' ? null : renewOn }
  return { changes: { ...annotationsOf(terms, family, now), ...renewal }, terms }
}

/** The lease starts again now, with another TTL if one is given, and does not end earlier. Throws a LeaseRefusal. */
export function planRestart(context: LeaseChangeContext, text: string | undefined): LeaseChange {
  const { current, families, now, target } = context
  checkAnswered(context)
  const family = familyOf(context)
  const terms = restartedTerms(context, family, text)
  const { lease } = planLease(current, { families }, target.kind.namespaced, now)
  if (lease && terms.type !== 'forever' && terms.end < lease.expireAt) {
    throw refused(
      `${target.label} lasts until ${formatTime(lease.expireAt)}, which is later than ${formatTime(terms.end)}. To shorten it, use set.`,
    )
  }
  checkNotOver(context, terms)
  return { changes: annotationsOf(terms, family, now), terms }
}

/** The lease ends later by a duration; its start stays. Throws a LeaseRefusal. */
export function planExtension(context: LeaseChangeContext, text: string): LeaseChange {
  const { current, families, now, target } = context
  const by = readTtl(text)
  if (by === 'forever')
    throw invalidTerms('A lease is extended by a duration, such as 1h: to keep the object, set forever.')
  if (by < MIN_TTL_MS) throw invalidTerms(`${text.trim()} extends nothing: write at least 1s.`)
  checkAnswered(context)
  const { annotations = {} } = current.metadata
  const { names } = familyOf(context)
  if (annotations[names.ttl] === undefined && annotations[names.expires] === undefined)
    throw refused(`${target.label} has no lease to extend: set one.`)
  const { lease } = planLease(current, { families }, target.kind.namespaced, now)
  if (!lease) throw refused(`The lease of ${target.label} has no end that can be extended: set another one.`)
  const end = ceilSecond(lease.expireAt + by)
  const start = floorSecond(lease.start)
  if (!isWritable(end)) throw invalidTerms('The lease would end after the year 9999: set forever instead.')
  if (end <= now) throw invalidTerms(`The lease would still be over: it ended at ${formatTime(lease.expireAt)}.`)
  if (annotations[names.expires] !== undefined) {
    const time = formatTime(end)
    return { changes: { [names.expires]: time }, terms: { type: 'time', text: time, end } }
  }
  const milliseconds = end - start
  if (milliseconds > MAX_TTL_MS) throw invalidTerms('The lease would be longer than a TTL can be: set forever instead.')
  const ttl = formatTtl(milliseconds)
  return {
    changes: { [names.ttl]: ttl, [names.start]: formatTime(start) },
    terms: { type: 'ttl', text: ttl, milliseconds, end },
  }
}

/** The object will not expire. */
export function planClear({ current, families }: LeaseChangeContext): LeaseChange {
  const { annotations = {} } = current.metadata
  const names = families.flatMap(({ prefix, start }) =>
    [
      USER_ANNOTATIONS.ttl,
      USER_ANNOTATIONS.expires,
      USER_ANNOTATIONS.renewOn,
      start,
      ...Object.values(STATUS_ANNOTATIONS),
    ].map((name) => prefix + name),
  )
  const found = names.filter((name) => annotations[name] !== undefined)
  return { changes: Object.fromEntries(found.map((name) => [name, null])), terms: undefined }
}

/** Throws if the lease would be over at once: a slip of the pen must not delete anything. */
function checkNotOver({ now, target: { kind, label, ref } }: LeaseChangeContext, terms: Terms): void {
  const isOver = terms.type === 'time' ? terms.end <= now : terms.type === 'ttl' && terms.milliseconds < MIN_TTL_MS
  if (!isOver) return
  const what = terms.type === 'time' ? `${terms.text} has passed` : `${terms.text} ends at once`
  const scope = ref.namespace === undefined ? '' : ` -n ${ref.namespace}`
  throw invalidTerms(
    `${what}: ${label} would be deleted now. Choose a later end, or delete it: kubectl delete ${resourceName(kind)} ${ref.name}${scope}`,
  )
}

/** Throws if lease controllers ignore the annotations of this object: the lease would never end. */
function checkAnswered({ current, target: { label } }: LeaseChangeContext): void {
  if (hasInheritedAnnotations(current))
    throw refused(
      `${label} inherits its annotations from its owner, and lease controllers ignore them there: set the lease on the owner.`,
    )
}

/** The terms of the lease that starts again; throws if they are not clear. */
function restartedTerms(
  { current, now, target: { label } }: LeaseChangeContext,
  { names }: LeaseFamily,
  text: string | undefined,
): Terms {
  const { annotations = {} } = current.metadata
  const ttl = annotations[names.ttl]
  const expires = annotations[names.expires]
  if (ttl === undefined && expires === undefined)
    throw refused(`${label} has no lease to extend: give it one with set.`)
  const wanted = text ?? ttl
  if (wanted === undefined)
    throw refused(`${label} has a time of expiry and no TTL: give a new time, or a duration from now.`)
  const terms = readTerms(wanted, now)
  if (terms.type === 'forever' && text === undefined)
    throw refused(`${label} never expires: there is nothing to extend.`)
  // A lease with a time of expiry gets a new time, not a TTL.
  return terms.type === 'ttl' && expires !== undefined
    ? { type: 'time', text: formatTime(terms.end), end: terms.end }
    : terms
}

/** The annotations of these terms in a family. */
function annotationsOf(terms: Terms, { names }: LeaseFamily, now: number): Changes {
  return {
    [names.ttl]: terms.type === 'time' ? null : terms.text,
    [names.expires]: terms.type === 'time' ? terms.text : null,
    [names.start]: terms.type === 'ttl' ? formatTime(startOf(now)) : null,
  }
}

/** The family that the object uses already, or the first. */
function familyOf({ current, families }: LeaseChangeContext): LeaseFamily {
  const { annotations = {} } = current.metadata
  const [first] = families
  const used = families.find(
    ({ names }) => annotations[names.ttl] !== undefined || annotations[names.expires] !== undefined,
  )
  const family = used ?? first
  if (family) return family
  throw new TenureError('TENURE_LEASE_ARGUMENT', 'There is no family of annotations to write a lease in.')
}
