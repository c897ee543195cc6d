import { isConflict, mergePatch, metadataOf, type PartialObjectMetadata, type Stored, TenureError } from '@tenure/kube'
import { fromNow } from '@tenure/runtime/cli'
import { USER_ANNOTATIONS, STATUS_ANNOTATIONS, type LeaseFamily } from '../api/annotations.ts'
import { defaultLeaseSettings } from '../api/types.ts'
import { hasInheritedAnnotations } from '../controllers/lease/inherited-annotations.ts'
import { planLease } from '../controllers/lease/plan.ts'
import type { Changes } from '../controllers/lease/status.ts'
import { formatTime } from '../api/time.ts'
import type { LeaseCliContext, LeaseCliOptions } from './context.ts'
import { managementProblem } from './management-problem.ts'
import { type NamedObject, namedObject, resourceName } from './named-object.ts'
import { readTerms, refused, startOf, type Terms } from './terms.ts'

/** Attempts when other clients write the same object at the same time. */
const MAX_ATTEMPTS = 5
/** A shorter TTL ends at once: annotations have whole seconds. */
const MIN_TTL_MS = 1_000
const NEVER = 'never expires'

/** Sets a lease: a TTL that starts now, a time of expiry, or `forever`. */
export async function setLease(
  context: LeaseCliContext,
  target: string,
  text: string,
  options: LeaseCliOptions,
): Promise<void> {
  // Fails before any request if the terms are invalid at any time.
  checkRenewOn(readTerms(text, context.clock.now()), options)
  const object = await namedObject(context, target, options)
  let said = ''
  await change(context, object, (current, now) => {
    checkAnswered(object, current)
    const terms = readTerms(text, now)
    checkNotOver(object, terms, now)
    said = ending(terms, now)
    const family = familyOf(context, current)
    return { ...termsAs(terms, family, now), ...renewOnAs(options, family) }
  })
  await report(context, object, said)
}

/** Restarts a lease, with another TTL if one is given. Never shortens it. */
export async function extendLease(
  context: LeaseCliContext,
  target: string,
  text: string | undefined,
  options: LeaseCliOptions,
): Promise<void> {
  const object = await namedObject(context, target, options)
  let said = ''
  await change(context, object, (current, now) => {
    checkAnswered(object, current)
    const family = familyOf(context, current)
    const terms = extendedTerms(object, current, family, text, now)
    const { lease } = planLease(current, { families: familiesOf(context) }, object.kind.namespaced, now)
    if (lease && terms.type !== 'forever' && terms.end < lease.expireAt) {
      throw refused(
        `${object.label} lasts until ${formatTime(lease.expireAt)}, which is later than ${formatTime(terms.end)}. To shorten it, use set.`,
      )
    }
    checkNotOver(object, terms, now)
    said = ending(terms, now)
    return termsAs(terms, family, now)
  })
  await report(context, object, said)
}

/** Removes an object's lease: it will not expire. */
export async function clearLease(context: LeaseCliContext, target: string, options: LeaseCliOptions): Promise<void> {
  const object = await namedObject(context, target, options)
  const names = familiesOf(context).flatMap(({ prefix, start }) =>
    [
      USER_ANNOTATIONS.ttl,
      USER_ANNOTATIONS.expires,
      USER_ANNOTATIONS.renewOn,
      start,
      ...Object.values(STATUS_ANNOTATIONS),
    ].map((name) => prefix + name),
  )
  const isCleared = await change(context, object, ({ metadata: { annotations = {} } }) =>
    Object.fromEntries(names.filter((name) => annotations[name] !== undefined).map((name) => [name, null])),
  )
  context.write(`${object.label} ${isCleared ? 'will not expire' : 'has no lease'}`)
}

/** Prints the end of a lease, and why it would not come. */
async function report(context: LeaseCliContext, object: NamedObject, said: string): Promise<void> {
  const problem = said === NEVER ? undefined : await managementProblem(context, object)
  context.write(`${object.label} ${problem === undefined ? said : said.replace(/^expires/, 'would expire')}`)
  if (problem !== undefined) context.warn(problem)
}

/** Throws if the lease would be over at once: a slip of the pen must not delete anything. */
function checkNotOver({ kind, ref, label }: NamedObject, terms: Terms, now: number): void {
  const isOver = terms.type === 'time' ? terms.end <= now : terms.type === 'ttl' && terms.milliseconds < MIN_TTL_MS
  if (!isOver) return
  const what = terms.type === 'time' ? `${terms.text} has passed` : `${terms.text} ends at once`
  const scope = ref.namespace === undefined ? '' : ` -n ${ref.namespace}`
  throw refused(
    `${what}: ${label} would be deleted now. Choose a later end, or delete it: kubectl delete ${resourceName(kind)} ${ref.name}${scope}`,
  )
}

/** Throws if `--renew-on` is invalid or has no effect. */
function checkRenewOn({ type }: Terms, { renewOn }: LeaseCliOptions): void {
  if (renewOn === undefined) return
  if (renewOn !== 'update' && renewOn !== 'never')
    throw new TenureError('TENURE_LEASE_ARGUMENT', `--renew-on must be update or never, not "${renewOn}".`)
  if (renewOn === 'update' && type !== 'ttl')
    throw new TenureError('TENURE_LEASE_ARGUMENT', '--renew-on needs a duration: an update cannot move a fixed end.')
}

function renewOnAs({ renewOn }: LeaseCliOptions, { names }: LeaseFamily): Changes {
  return renewOn === undefined ? {} : { [names.renewOn]: renewOn === 'never' ? null : renewOn }
}

/** Throws if lease controllers ignore the annotations of this object: the lease would never end. */
function checkAnswered({ label }: NamedObject, current: Stored<PartialObjectMetadata>): void {
  if (hasInheritedAnnotations(current))
    throw refused(
      `${label} inherits its annotations from its owner, and lease controllers ignore them there: set the lease on the owner.`,
    )
}

/** The terms of the extended lease; throws if they are not clear. */
function extendedTerms(
  { label }: NamedObject,
  { metadata: { annotations = {} } }: Stored<PartialObjectMetadata>,
  { names }: LeaseFamily,
  text: string | undefined,
  now: number,
): Terms {
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
function termsAs(terms: Terms, { names }: LeaseFamily, now: number): Changes {
  return {
    [names.ttl]: terms.type === 'time' ? null : terms.text,
    [names.expires]: terms.type === 'time' ? terms.text : null,
    [names.start]: terms.type === 'ttl' ? formatTime(startOf(now)) : null,
  }
}

function ending(terms: Terms, now: number): string {
  return terms.type === 'forever' ? NEVER : `expires at ${formatTime(terms.end)} (${fromNow(terms.end, now)})`
}

function familiesOf({ families = defaultLeaseSettings.families }: LeaseCliContext): readonly LeaseFamily[] {
  return families
}

/** The family that the object uses already, or the first. */
function familyOf(
  context: LeaseCliContext,
  { metadata: { annotations = {} } }: Stored<PartialObjectMetadata>,
): LeaseFamily {
  const families = familiesOf(context)
  const [first] = families
  const used = families.find(
    ({ names }) => annotations[names.ttl] !== undefined || annotations[names.expires] !== undefined,
  )
  const family = used ?? first
  if (family) return family
  throw new TenureError('TENURE_LEASE_ARGUMENT', 'There is no family of annotations to write a lease in.')
}

/**
 * The current time by the server's clock, which decides the expiry; the local clock may be wrong. The server's time has
 * whole seconds, so the local clock is used within that second.
 */
function timeOf(serverTime: number | undefined, ours: number): number {
  return serverTime === undefined ? ours : Math.min(Math.max(ours, serverTime), serverTime + 999)
}

/** Writes the result of `changesFor` the current object; returns false if nothing changes. */
async function change(
  { api, clock }: LeaseCliContext,
  { kind, ref, label }: NamedObject,
  changesFor: (current: Stored<PartialObjectMetadata>, now: number) => Changes,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const { object: current, serverTime } = await api.getLive(metadataOf(kind), ref)
    const { annotations: before = {}, resourceVersion, deletionTimestamp } = current.metadata
    if (deletionTimestamp !== undefined) throw refused(`${label} is already being deleted: a lease cannot change that.`)
    const now = timeOf(serverTime, clock.now())
    const changes = Object.entries(changesFor(current, now)).filter(([name, value]) => (before[name] ?? null) !== value)
    if (changes.length === 0) return false
    const annotations = Object.fromEntries(changes)
    try {
      await api.patch(metadataOf(kind), ref, mergePatch({ metadata: { resourceVersion, annotations } }))
      return true
    } catch (error) {
      if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw error
    }
  }
}
