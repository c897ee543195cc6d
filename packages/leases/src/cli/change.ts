import { isConflict, mergePatch, metadataOf, type PartialObjectMetadata, type Stored, TenureError } from '@tenure/kube'
import { USER_ANNOTATIONS, STATUS_ANNOTATIONS, type LeaseFamily } from '../api/annotations.ts'
import { defaultLeaseSettings } from '../api/types.ts'
import { hasInheritedAnnotations } from '../controllers/lease/inherited-annotations.ts'
import { type Changes, planLease } from '../controllers/lease/plan.ts'
import { formatTime } from '../api/time.ts'
import type { LeaseCliContext, LeaseCliOptions } from './context.ts'
import { type NamedObject, namedObject } from './named-object.ts'
import { readTerms, refused, startOf, type Terms } from './terms.ts'
import { fromNow } from './words.ts'

/** Tries against those who write the same object at the same time. */
const TRIES = 5

/** Gives an object a lease: a TTL that starts now, an end, or none (`forever`). */
export async function setLease(
  context: LeaseCliContext,
  target: string,
  text: string,
  options: LeaseCliOptions,
): Promise<void> {
  // What makes no sense at any time is told before anything is asked.
  readTerms(text, context.clock.now())
  const object = await namedObject(context, target, options)
  let said = ''
  await change(context, object, (current, now) => {
    checkAnswered(object, current)
    const terms = readTerms(text, now)
    if (terms.type === 'time' && terms.end <= now) {
      throw refused(`${terms.text} has passed: the object would be deleted at once. If that is meant, delete it.`)
    }
    said = ending(terms, now)
    return termsAs(terms, familyOf(context, current), now)
  })
  context.write(`${object.label} ${said}`)
}

/** Starts a lease anew, with another TTL if one is given. It never ends earlier than before. */
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
    said = ending(terms, now)
    return termsAs(terms, family, now)
  })
  context.write(`${object.label} ${said}`)
}

/** Takes an object's lease away: it is kept for good. */
export async function clearLease(context: LeaseCliContext, target: string, options: LeaseCliOptions): Promise<void> {
  const object = await namedObject(context, target, options)
  const names = familiesOf(context).flatMap(({ prefix, start }) =>
    [USER_ANNOTATIONS.ttl, USER_ANNOTATIONS.expires, start, ...Object.values(STATUS_ANNOTATIONS)].map(
      (name) => prefix + name,
    ),
  )
  const isCleared = await change(context, object, ({ metadata: { annotations = {} } }) =>
    Object.fromEntries(names.filter((name) => annotations[name] !== undefined).map((name) => [name, null])),
  )
  context.write(`${object.label} ${isCleared ? 'is kept for good' : 'has no lease'}`)
}

/** Throws if no lease controller would answer: then nothing would ever end. */
function checkAnswered({ label }: NamedObject, current: Stored<PartialObjectMetadata>): void {
  if (hasInheritedAnnotations(current))
    throw refused(
      `${label} has copies of the annotations of what it belongs to, and nobody answers them there: lease that instead.`,
    )
}

/** What the lease is to be; throws if that can not be told. */
function extendedTerms(
  { label }: NamedObject,
  { metadata: { annotations = {} } }: Stored<PartialObjectMetadata>,
  { prefix }: LeaseFamily,
  text: string | undefined,
  now: number,
): Terms {
  const ttl = annotations[prefix + USER_ANNOTATIONS.ttl]
  const expires = annotations[prefix + USER_ANNOTATIONS.expires]
  if (ttl === undefined && expires === undefined)
    throw refused(`${label} has no lease to extend: give it one with set.`)
  const wanted = text ?? ttl
  if (wanted === undefined) throw refused(`${label} has an end and no TTL: say until when, or for how long from now.`)
  const terms = readTerms(wanted, now)
  if (terms.type === 'forever' && text === undefined)
    throw refused(`${label} never expires: there is nothing to extend.`)
  // One that has an end gets another end.
  return terms.type === 'ttl' && expires !== undefined
    ? { type: 'time', text: formatTime(terms.end), end: terms.end }
    : terms
}

/** The annotations that say so in a family. */
function termsAs(terms: Terms, { prefix, start }: LeaseFamily, now: number): Changes {
  return {
    [prefix + USER_ANNOTATIONS.ttl]: terms.type === 'time' ? null : terms.text,
    [prefix + USER_ANNOTATIONS.expires]: terms.type === 'time' ? terms.text : null,
    [prefix + start]: terms.type === 'ttl' ? formatTime(startOf(now)) : null,
  }
}

function ending(terms: Terms, now: number): string {
  return terms.type === 'forever' ? 'never expires' : `expires at ${formatTime(terms.end)} (${fromNow(terms.end, now)})`
}

function familiesOf({ families = defaultLeaseSettings.families }: LeaseCliContext): readonly LeaseFamily[] {
  return families
}

/** The family in which the object is leased already, or the first. */
function familyOf(
  context: LeaseCliContext,
  { metadata: { annotations = {} } }: Stored<PartialObjectMetadata>,
): LeaseFamily {
  const families = familiesOf(context)
  const [first] = families
  const used = families.find(
    ({ prefix }) =>
      annotations[prefix + USER_ANNOTATIONS.ttl] !== undefined ||
      annotations[prefix + USER_ANNOTATIONS.expires] !== undefined,
  )
  const family = used ?? first
  if (family) return family
  throw new TenureError('TENURE_LEASE_ARGUMENT', 'There is no family of annotations to write a lease in.')
}

/**
 * What time it is where the lease will end: a lease that starts by the clock of somebody's laptop might end before it
 * has begun. The server's time is cut to whole seconds; ours tells within that second.
 */
function timeOf(serverTime: number | undefined, ours: number): number {
  return serverTime === undefined ? ours : Math.min(Math.max(ours, serverTime), serverTime + 999)
}

/** Writes what `changesFor` the object, as it is now, gives; false if that is nothing. */
async function change(
  { api, clock }: LeaseCliContext,
  { kind, ref, label }: NamedObject,
  changesFor: (current: Stored<PartialObjectMetadata>, now: number) => Changes,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const { object: current, serverTime } = await api.getLive(metadataOf(kind), ref)
    const { annotations: before = {}, resourceVersion, deletionTimestamp } = current.metadata
    if (deletionTimestamp !== undefined) throw refused(`${label} is being deleted already: no lease changes that.`)
    const now = timeOf(serverTime, clock.now())
    const changes = Object.entries(changesFor(current, now)).filter(([name, value]) => (before[name] ?? null) !== value)
    if (changes.length === 0) return false
    const annotations = Object.fromEntries(changes)
    try {
      await api.patch(metadataOf(kind), ref, mergePatch({ metadata: { resourceVersion, annotations } }))
      return true
    } catch (error) {
      if (!isConflict(error) || attempt >= TRIES) throw error
    }
  }
}
