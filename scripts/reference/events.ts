import { REASONS as APPLICATIONS } from '../../packages/applications/src/api/reasons.ts'
import { REASONS as CLAIMS } from '../../packages/claims/src/api/names.ts'
import { EVENT_REASONS as LEASES } from '../../packages/leases/src/api/reasons.ts'
import { code, table } from './markdown.ts'

const INTRODUCTION = `# Events

Generated from the reasons in the code by \`npm run reference\`: do not edit. Operators record events of the API \`events.k8s.io/v1\` about the object that they
concern: \`kubectl events --for application/shop\`. Equal ones count up instead of repeating.
`

interface Meaning {
  readonly type: 'Normal' | 'Warning'
  readonly meaning: string
}

const normal = (meaning: string): Meaning => ({ type: 'Normal', meaning })
const warning = (meaning: string): Meaning => ({ type: 'Warning', meaning })

/** The types make a reason without a meaning, and a meaning without a reason, an error. */
const applications: Readonly<Record<keyof typeof APPLICATIONS, Meaning>> = {
  created: normal('The operator has seen the Application for the first time.'),
  updated: normal('The spec has changed.'),
  reconciling: normal('A rollout begins; the message names replicas and image.'),
  reconciled: normal('The rollout is complete.'),
  cleanup: normal('The Application is deleted and its cleanup begins.'),
  deleted: normal('The cleanup is finished and the finalizer removed.'),
  validationFailed: warning('A write through the HTTP API was invalid.'),
  reconciliationFailed: warning('The rollout failed; the message has the reason, such as that of a pod.'),
}

const claims: Readonly<Record<keyof typeof CLAIMS, Meaning>> = {
  createdResource: normal('An object of the claim was created.'),
  expired: normal('The time of the claim is over, and its objects were deleted.'),
  released: normal('The caller released the claim.'),
  failed: warning('The claim cannot become ready; the message has the reason.'),
  incomplete: warning('An object of the claim could not be created.'),
  expiryRepaired: warning('The expires-at annotation was unreadable; the claim ends after the default TTL from now.'),
  memberReplaced: normal('An idle member of the pool was replaced, because it failed or the template changed.'),
  poolFailing: warning('Members of the pool keep failing; the pool waits before it makes others.'),
  poolRecovered: normal('The pool has a ready member again.'),
  templateFailed: warning('The template or the values of the pool cannot be rendered.'),
}

const leases: Readonly<Record<keyof typeof LEASES, Meaning>> = {
  started: normal('The lease began; the message has its end.'),
  expiring: normal('The object is deleted soon: a tenth of the TTL ahead, at most an hour.'),
  expired: normal('The lease is over, and the object is deleted.'),
  cleaned: normal('The TTL was removed; the object will not expire.'),
  startReset: warning('The start of the lease was invalid or older than the object, and is reset.'),
  invalidTtl: warning('The TTL cannot be read; the object is kept. The message says why.'),
  rejected: warning(
    'The API server refuses what the lease controller writes, for example because the annotations are full.',
  ),
  jobCreated: normal('A cleanup job was created.'),
  jobCompleted: normal('The cleanup job has succeeded.'),
  jobInvalid: warning(
    'The cleanup job may not run as asked for; the object is kept. The message says what is not allowed.',
  ),
  jobTimeout: warning('The cleanup job took longer than its timeout.'),
  jobFailed: warning('The cleanup job failed.'),
}

/** Returns the reference page of all events. */
export function eventsReference(): string {
  return [
    INTRODUCTION,
    section('Applications', 'About the Application. `GET /events` shows them too.', APPLICATIONS, applications),
    section('Claims', 'About the ConfigMap of the claim, and about that of the values of a pool.', CLAIMS, claims),
    section('Leases', 'About the object with the lease.', LEASES, leases),
    `## Databases\n\nDatabases are rows: each change is a row in \`provisioning_jobs\`, with its log and its error, and one in \`audit_logs\`. See\n[Databases](../guides/databases.md).\n`,
  ].join('\n')
}

function section<K extends string>(
  title: string,
  text: string,
  reasons: Readonly<Record<K, string>>,
  meanings: Readonly<Record<K, Meaning>>,
): string {
  const rows = (Object.keys(meanings) as K[]).map((key) => [
    code(reasons[key]),
    meanings[key].type,
    meanings[key].meaning,
  ])
  return `## ${title}\n\n${text}\n\n${table(['Reason', 'Type', 'Meaning'], rows)}`
}
