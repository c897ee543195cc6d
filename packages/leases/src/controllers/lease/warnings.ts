import { USER_ANNOTATIONS, STATUS_ANNOTATIONS, JOB_ANNOTATIONS, type LeaseFamily } from '../../api/annotations.ts'
import type { JobConfigReading } from './cleanup/job-config.ts'

type Annotations = Readonly<Record<string, string>>

/** What somebody may rely on who wrote these annotations, and should not: it stands in the status. */
export function warningsAbout(
  annotations: Annotations,
  families: readonly LeaseFamily[],
  /** The one that counts. */
  family: LeaseFamily,
  job: JobConfigReading | undefined,
): readonly string[] {
  const warnings: string[] = []
  const ignored = families.flatMap((each) => (each === family ? [] : writtenIn(annotations, each)))
  if (ignored.length > 0) warnings.push(`${theseAre(ignored)} ignored, ${writtenIn(annotations, family)[0]} counts.`)
  const unknown = unknownIn(annotations, family)
  if (unknown.length > 0) warnings.push(`${theseAre(unknown)} not known.`)
  if (job?.ok === false) warnings.push(`The cleanup job can not be run: ${job.reason}.`)
  return warnings
}

const WISHES = Object.values(USER_ANNOTATIONS)

/** The names of what users wrote in a family: how long, and then how it is to end. */
function writtenIn(annotations: Annotations, { prefix }: LeaseFamily): readonly string[] {
  return WISHES.map((name) => prefix + name).filter((name) => annotations[name] !== undefined)
}

const KNOWN: ReadonlySet<string> = new Set([
  ...WISHES,
  ...Object.values(STATUS_ANNOTATIONS),
  ...Object.values(JOB_ANNOTATIONS),
])
/** So many names are told: they stand in a status. */
const MOST_NAMES = 5

/** Names of a family that mean nothing: who misspells `propagation`, or the start, relies on what is not there. */
function unknownIn(annotations: Annotations, { prefix, start }: LeaseFamily): readonly string[] {
  const isUnknown = (name: string): boolean => {
    const own = name.slice(prefix.length)
    return name.startsWith(prefix) && own !== start && !KNOWN.has(own)
  }
  return Object.keys(annotations).filter(isUnknown).toSorted().slice(0, MOST_NAMES)
}

function theseAre(names: readonly string[]): string {
  return `${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'}`
}
