import { USER_ANNOTATIONS, STATUS_ANNOTATIONS, JOB_ANNOTATIONS, type LeaseFamily } from '../../api/annotations.ts'
import type { KubeObject, Stored } from '@tenure/kube'
import type { JobConfigReading } from './cleanup/job-config.ts'

type Annotations = Readonly<Record<string, string>>

/** Warnings for lease-status about annotations that have no effect. */
export function annotationWarnings(
  { metadata: { annotations = {}, generation = 0 } }: Stored<KubeObject>,
  /** Families that do not count. */
  others: readonly LeaseFamily[],
  /** The family that counts. */
  family: LeaseFamily,
  job: JobConfigReading | undefined,
): readonly string[] {
  const warnings: string[] = []
  const ignored = others.flatMap((each) => writtenIn(annotations, each))
  if (ignored.length > 0) warnings.push(`${theseAre(ignored)} ignored, ${writtenIn(annotations, family)[0]} counts.`)
  const unknown = unknownIn(annotations, family)
  if (unknown.length > 0) warnings.push(`${theseAre(unknown)} not known.`)
  if (annotations[family.names.renewOn] !== undefined) {
    const name = family.names.renewOn
    if (annotations[family.names.expires] !== undefined)
      warnings.push(`${name} has no effect: expires is a fixed time.`)
    else if (generation === 0)
      warnings.push(`${name} has no effect: objects of this kind have no generation, which would count updates.`)
  }
  if (job?.ok === false) warnings.push(`The cleanup job cannot be run: ${job.reason}.`)
  return warnings
}

const USER_ANNOTATION_NAMES = Object.values(USER_ANNOTATIONS)

/** Names of the user annotations of a family, in the order of `USER_ANNOTATIONS`. */
function writtenIn(annotations: Annotations, { prefix }: LeaseFamily): readonly string[] {
  return USER_ANNOTATION_NAMES.map((name) => prefix + name).filter((name) => annotations[name] !== undefined)
}

const KNOWN: ReadonlySet<string> = new Set([
  ...USER_ANNOTATION_NAMES,
  ...Object.values(STATUS_ANNOTATIONS),
  ...Object.values(JOB_ANNOTATIONS),
])
/** Bounds the length of the status. */
const MAX_LISTED_NAMES = 5

/** Unknown annotations of a family, such as a misspelled `propagation`. */
function unknownIn(annotations: Annotations, { prefix, start }: LeaseFamily): readonly string[] {
  const isUnknown = (name: string): boolean => {
    const own = name.slice(prefix.length)
    return name.startsWith(prefix) && own !== start && !KNOWN.has(own)
  }
  return Object.keys(annotations).filter(isUnknown).toSorted().slice(0, MAX_LISTED_NAMES)
}

function theseAre(names: readonly string[]): string {
  return `${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'}`
}
