import { hash } from 'node:crypto'
import type { KubeObject, Stored } from '@tenure/kube'
import type { Job } from '@tenure/kube/kinds'
import { JOB_ANNOTATIONS, type LeaseFamily } from '../../../api/annotations.ts'
import { JOB_LABELS } from '../../../api/labels.ts'
import type { GroupVersionKind } from '../../../api/types.ts'
import { formatTime } from '../../../api/time.ts'
import type { JobConfig } from './job-config.ts'
import { type HeldJob, printSource } from './job-source.ts'

/** The object and expiry that a job cleans up after. */
export interface CleanupSubject {
  readonly object: Stored<KubeObject>
  readonly kind: GroupVersionKind
  readonly family: LeaseFamily
  readonly start: number
  readonly expireAt: number
}

/** The job's name is a label value of its pods. */
const MAX_NAME_LENGTH = 63
const PREFIX = 'lease-cleanup-'
const HASH_LENGTH = 10
const SCRIPT_DIRECTORY = '/scripts'
const SCRIPT = 'cleanup-script'
/** Contains the whole object, including the data of a Secret: never passed to a job. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * The name of the job, derived from the expiry and the attempt, so that a repeated create is harmless. It looks like a
 * generated name.
 */
export function jobName(subject: CleanupSubject, attempt: number): string {
  return `${generateName(subject)}${hashOf(subject, String(attempt))}`
}

/** The data needed to release the job later. */
export function heldJob(subject: CleanupSubject, { ttl }: JobConfig, attempt: number): HeldJob {
  const { object, family, expireAt } = subject
  const { group, version, kind } = subject.kind
  const { name, uid, namespace } = object.metadata
  return {
    ref: { name: jobName(subject, attempt), namespace },
    prefix: family.prefix,
    source: { group, version, kind, name, uid, expireAt: formatTime(expireAt), attempt, ttl },
  }
}

/** Selects the held jobs of a kind. */
export function heldJobSelector(prefix: string, { kind }: GroupVersionKind): string {
  const labels = {
    [JOB_LABELS.isCleanup]: 'true',
    [JOB_LABELS.held]: 'true',
    [JOB_LABELS.sourceKind]: labelValue(kind),
  }
  return Object.entries(labels)
    .map(([name, value]) => `${prefix}${name}=${value}`)
    .join(',')
}

/** The Job to create. It has no TTL: it is held until its result is recorded on the object. */
export function cleanupJob(subject: CleanupSubject, config: JobConfig, attempt: number, defaultImage: string): Job {
  const { object, kind, family } = subject
  const labels = {
    [family.prefix + JOB_LABELS.isCleanup]: 'true',
    [family.prefix + JOB_LABELS.sourceKind]: labelValue(kind.kind),
    [family.prefix + JOB_LABELS.sourceName]: labelValue(object.metadata.name),
    [family.prefix + JOB_LABELS.sourceUid]: labelValue(object.metadata.uid),
    [family.prefix + JOB_LABELS.expiry]: hashOf(subject, ''),
  }
  return {
    metadata: {
      name: jobName(subject, attempt),
      generateName: generateName(subject),
      ...(object.metadata.namespace && { namespace: object.metadata.namespace }),
      labels: { ...labels, [family.prefix + JOB_LABELS.held]: 'true' },
      annotations: { [family.prefix + JOB_ANNOTATIONS.source]: printSource(heldJob(subject, config, attempt).source) },
    },
    spec: {
      backoffLimit: config.backoffLimit,
      // Without job-wait there is no deadline.
      ...(config.wait && { activeDeadlineSeconds: Math.ceil(config.timeout / 1_000) }),
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: 'Never',
          serviceAccountName: config.serviceAccount,
          containers: [
            {
              name: 'cleanup',
              // The default image may be on the nodes and in no registry.
              ...(config.image === undefined
                ? { image: defaultImage, imagePullPolicy: 'IfNotPresent' }
                : { image: config.image }),
              command: [`${SCRIPT_DIRECTORY}/${SCRIPT}`],
              env: Object.entries(environmentOf(subject)).map(([name, value]) => ({ name, value: literal(value) })),
              ...(config.envSecrets.length > 0 && {
                envFrom: config.envSecrets.map((name) => ({ secretRef: { name } })),
              }),
              volumeMounts: [{ name: 'script', mountPath: SCRIPT_DIRECTORY, readOnly: true }],
            },
          ],
          volumes: [
            {
              name: 'script',
              configMap: {
                name: config.configMap,
                defaultMode: 0o755,
                items: [{ key: config.scriptKey, path: SCRIPT }],
              },
            },
          ],
        },
      },
    },
  }
}

function environmentOf({ object, kind, start, expireAt }: CleanupSubject): Readonly<Record<string, string>> {
  const { metadata } = object
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations ?? {}
  return {
    OBJECT_NAME: metadata.name,
    OBJECT_NAMESPACE: metadata.namespace ?? '',
    OBJECT_KIND: kind.kind,
    OBJECT_GROUP: kind.group,
    OBJECT_VERSION: kind.version,
    OBJECT_UID: metadata.uid,
    OBJECT_RESOURCE_VERSION: metadata.resourceVersion,
    LEASE_STARTED_AT: formatTime(start),
    LEASE_EXPIRED_AT: formatTime(expireAt),
    OBJECT_LABELS: JSON.stringify(metadata.labels ?? {}),
    OBJECT_ANNOTATIONS: JSON.stringify(annotations),
  }
}

/** Escapes `$(NAME)`, which Kubernetes would expand as a variable reference. */
function literal(value: string): string {
  return value.replaceAll('$', '$$$$')
}

function generateName({ object }: CleanupSubject): string {
  const maxLength = MAX_NAME_LENGTH - PREFIX.length - HASH_LENGTH - 1
  const name = object.metadata.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .slice(0, maxLength)
    .replace(/-+$/, '')
  return name === '' ? PREFIX : `${PREFIX}${name}-`
}

function hashOf({ object, expireAt }: CleanupSubject, more: string): string {
  const text = JSON.stringify([object.metadata.uid, formatTime(expireAt), more])
  return hash('sha256', text, 'hex').slice(0, HASH_LENGTH)
}

function labelValue(text: string): string {
  return text
    .replaceAll(/[^\w.-]/g, '-')
    .slice(0, MAX_NAME_LENGTH)
    .replaceAll(/^[^a-zA-Z0-9]+|[^a-zA-Z0-9]+$/g, '')
}
