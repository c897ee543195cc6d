import { USER_ANNOTATIONS, type LeaseFamily, PROPAGATIONS } from '../api/annotations.ts'
import { readJobConfig } from '../controllers/lease/cleanup/job-config.ts'
import { isRenewOn, RENEW_ON_REASON, TOO_LATE_REASON } from '../controllers/lease/terms.ts'
import { ceilSecond, isWritable, parseTime, parseTimeOrDate } from '../api/time.ts'
import { parseTtl } from '../api/ttl.ts'

export type Annotations = Readonly<Record<string, string>>

/** An invalid lease annotation. */
export interface AnnotationProblem {
  /** With the prefix. */
  readonly annotation: string
  readonly reason: string
  /** All annotations that take part in the problem, with the prefix. */
  readonly involved: readonly string[]
}

const JOB_ANNOTATION_NAMES = Object.values(USER_ANNOTATIONS).filter((name) => name.includes('job'))

/** All problems that a lease controller would report later. Pure. */
export function annotationProblems(
  annotations: Annotations,
  families: readonly LeaseFamily[],
  namespaced: boolean,
): readonly AnnotationProblem[] {
  return families.flatMap((family) => familyProblems(annotations, family, namespaced))
}

function familyProblems(
  annotations: Annotations,
  family: LeaseFamily,
  namespaced: boolean,
): readonly AnnotationProblem[] {
  const { prefix, start } = family
  const problems: AnnotationProblem[] = []
  const check = (name: string, reasonAgainst: (text: string) => string | undefined): void => {
    const text = annotations[prefix + name]
    const reason = text === undefined ? undefined : reasonAgainst(text)
    if (reason !== undefined) problems.push({ annotation: prefix + name, reason, involved: [prefix + name] })
  }
  check(USER_ANNOTATIONS.ttl, (text) => {
    const ttl = parseTtl(text)
    return ttl.ok ? undefined : ttl.reason
  })
  check(USER_ANNOTATIONS.expires, (text) => {
    const end = parseTimeOrDate(text.trim())
    if (end !== undefined) return isWritable(ceilSecond(end)) ? undefined : TOO_LATE_REASON
    return `${JSON.stringify(text)} is not a time; write one such as 2026-06-11T20:48:11Z, or a date such as 2026-06-11`
  })
  check(start, (text) =>
    parseTime(text) === undefined
      ? `${JSON.stringify(text)} is not an RFC 3339 time; write one such as 2026-06-11T20:48:11Z`
      : undefined,
  )
  check(USER_ANNOTATIONS.propagation, (text) =>
    PROPAGATIONS.some((propagation) => propagation.toLowerCase() === text.trim().toLowerCase())
      ? undefined
      : `${JSON.stringify(text)} is none of ${PROPAGATIONS.join(', ')}`,
  )
  check(USER_ANNOTATIONS.renewOn, (text) => (isRenewOn(text) ? undefined : RENEW_ON_REASON))
  return [...problems, ...contradictions(annotations, family), ...jobProblems(annotations, family, namespaced)]
}

function contradictions(annotations: Annotations, { names }: LeaseFamily): readonly AnnotationProblem[] {
  const [ttl, expires, from] = [names.ttl, names.expires, names.start]
  if (annotations[ttl] === undefined) return []
  if (annotations[expires] !== undefined)
    return [{ annotation: expires, reason: 'both ttl and expires are set; keep one of them', involved: [ttl, expires] }]
  const length = parseTtl(annotations[ttl])
  const began = parseTime(annotations[from] ?? '')
  if (!length.ok || length.milliseconds === 'forever' || began === undefined) return []
  const isTooLate = !isWritable(ceilSecond(began + length.milliseconds))
  return isTooLate ? [{ annotation: ttl, reason: TOO_LATE_REASON, involved: [ttl, from] }] : []
}

function jobProblems(annotations: Annotations, family: LeaseFamily, namespaced: boolean): readonly AnnotationProblem[] {
  const job = readJobConfig(annotations, family, namespaced)
  if (job?.ok !== false) return []
  return [
    {
      annotation: family.names.job,
      reason: job.reason,
      involved: JOB_ANNOTATION_NAMES.map((name) => family.prefix + name),
    },
  ]
}
