import { ANNOTATIONS as APPLICATION_ANNOTATIONS } from '../../packages/applications/src/api/annotations.ts'
import { ANNOTATIONS as CLAIM_ANNOTATIONS, TEMPLATE_ANNOTATIONS } from '../../packages/claims/src/api/names.ts'
import { DEFAULT_POD_TIMES, SIMULATE } from '../../packages/controlplane/src/controllers/nodes/simulation.ts'
import { CONFIG_CHECKSUM_ANNOTATION, MAJOR_ANNOTATION } from '../../packages/databases/src/objects/names.ts'
import {
  JOB_ANNOTATIONS,
  NEWER_FAMILY,
  PROPAGATIONS,
  RESOURCE_ANNOTATIONS,
  SEED_FAMILY,
  STATUS_ANNOTATIONS,
  USER_ANNOTATIONS,
} from '../../packages/leases/src/api/annotations.ts'
import { defaultLeaseSettings } from '../../packages/leases/src/api/types.ts'
import {
  DEFAULT_BACKOFF_LIMIT,
  DEFAULT_SERVICE_ACCOUNT,
  DEFAULT_TIMEOUT,
  DEFAULT_TTL,
} from '../../packages/leases/src/controllers/lease/cleanup/job-config.ts'
import { DEFINITION_VERSION } from '../../packages/runtime/src/definitions/definition-version.ts'

/** The default of an annotation, and its meaning. Without a default nothing happens unless it is set. */
type Description = readonly [fallback: string | undefined, meaning: string]

interface Section {
  readonly title: string
  readonly text: string
  /** Without the operator's column of defaults: only programs write these. */
  readonly writtenBy?: 'operator'
  readonly rows: readonly (readonly [name: string, ...description: Description])[]
}

/** Descriptions for all names of a table: a name without one does not compile. */
function rows<K extends string>(
  names: Readonly<Record<K, string | readonly string[]>>,
  descriptions: Readonly<Record<NoInfer<K>, Description>>,
): Section['rows'] {
  return Object.entries<string | readonly string[]>(names).flatMap(([key, name]) => {
    // The descriptions have the keys of the names.
    const description = descriptions[key as K]
    return [name].flat().map((each) => [each, ...description] as const)
  })
}

const SECTIONS: readonly Section[] = [
  {
    title: 'Leases',
    text: `On any object whose kind has a LeaseController. All names begin with \`${SEED_FAMILY.prefix}\` or, as later versions of the original have it, with
\`${NEWER_FAMILY.prefix}\`; \`--prefix\` and \`--newer-prefix\` change that. [Guide](../guides/leases.md)`,
    rows: [
      ...rows(USER_ANNOTATIONS, {
        ttl: [undefined, 'How long the object lives: `30m`, `1w2d3h`, `0.5mo`, or `forever`.'],
        expires: [undefined, 'Until when it lives, instead of `ttl`: `2026-06-11`, `2026-06-11T20:48:11Z`.'],
        renewOn: ['never', '`update`: a change of the generation of the object starts the `ttl` again.'],
        propagation: ['Background', `Deletion of dependents: \`${PROPAGATIONS.join('`, `')}\`.`],
        job: [undefined, 'Script to run before the deletion: `<configmap>/<key>`.'],
        jobServiceAccount: [DEFAULT_SERVICE_ACCOUNT, 'ServiceAccount of the job.'],
        jobImage: [defaultLeaseSettings.cleanup.image, 'Image of the job. `LEASE_CLEANUP_IMAGE` sets the default.'],
        jobWait: ['false', '`true`: the object stays until the job has succeeded.'],
        jobTimeout: [DEFAULT_TIMEOUT, 'How long the job may run.'],
        jobTtl: [DEFAULT_TTL, 'Seconds for which the Job stays after its result is recorded.'],
        jobBackoffLimit: [DEFAULT_BACKOFF_LIMIT, 'Number of repeated tries of the job.'],
        jobEnvSecrets: [undefined, 'Secrets, with commas between, whose keys become environment variables of the job.'],
        jobOnFailure: ['keep', '`delete`: the object is deleted although the job failed.'],
      }),
      [
        `${SEED_FAMILY.start}, or ${NEWER_FAMILY.start} in the later names`,
        'the creation of the object, or now for a `ttl` that was added later',
        'Start of the `ttl`.',
      ],
    ],
  },
  {
    title: 'Leases: on ServiceAccounts and Secrets',
    text: 'With the prefixes of leases.',
    rows: rows(RESOURCE_ANNOTATIONS, {
      allowJobs: ['false', '`true`: cleanup jobs in the namespace may use it.'],
    }),
  },
  {
    title: 'Leases: written by the controller',
    text: 'With the prefixes of leases.',
    writtenBy: 'operator',
    rows: [
      ...rows(STATUS_ANNOTATIONS, {
        expireAt: [undefined, 'When the object expires.'],
        status: [undefined, 'State of the lease, and errors, for people.'],
        basis: [undefined, 'The lease runs from `extended-at`, not from the creation of the object.'],
        generation: [undefined, 'With `renew-on`: the generation that the controller has seen.'],
        cleanup: [undefined, 'State of the cleanup job of this expiry, as JSON.'],
      }),
      ...rows(JOB_ANNOTATIONS, {
        source: [undefined, 'On a cleanup Job: the object and the expiry that it was created for, as JSON.'],
      }),
    ],
  },
  {
    title: 'Claims: in templates',
    text: 'On the resources of a template. [Guide](../guides/claims.md)',
    rows: rows(TEMPLATE_ANNOTATIONS, {
      return: [undefined, '`key=value` pairs, with commas between, that the caller of a claim gets in `data`.'],
      lazy: ['false', '`true`: created when the claim is handed out, not while it sits in the pool.'],
    }),
  },
  {
    title: 'Claims: written by the operator',
    text: 'On the ConfigMap of a claim.',
    writtenBy: 'operator',
    rows: rows(CLAIM_ANNOTATIONS, {
      expiresAt: [undefined, 'When the claim ends. Absent while it sits in the pool.'],
      createdBy: [undefined, 'The operator.'],
      preProvisioned: [undefined, '`true`: created for the pool.'],
      claimedAt: [undefined, 'When the claim was handed out. Absent while it sits in the pool.'],
      revision: [undefined, 'Version of the template and values that the claim was rendered from.'],
      handOut: [undefined, 'Random value by which a replica recognizes its own write.'],
      idempotencyKey: [undefined, 'Hash of the Idempotency-Key that the claim was taken with.'],
      failure: [undefined, 'Why the claim cannot become ready, in one word.'],
      hasSecrets: [undefined, '`true`: a part of what was rendered is in the Secret of the claim.'],
      hasSecretReturns: [undefined, '`true`: the return values are in the Secret of the claim, too.'],
    }),
  },
  {
    title: 'Applications: written by the operator',
    text: 'The annotations of pods are in `spec.podAnnotations`. [Guide](../guides/applications.md)',
    writtenBy: 'operator',
    rows: rows(APPLICATION_ANNOTATIONS, {
      revision: [
        undefined,
        'On pod templates and Jobs: digest of the pod spec and the configuration. A change rolls the pods.',
      ],
      mutated: [undefined, 'On Applications that the mutating webhook has seen.'],
    }),
  },
  {
    title: 'Databases: written by the operator',
    text: 'Databases are configured by rows, not by annotations. [Guide](../guides/databases.md)',
    writtenBy: 'operator',
    rows: [
      [CONFIG_CHECKSUM_ANNOTATION, undefined, 'On pod templates: digest of the settings. A change restarts the pods.'],
      [MAJOR_ANNOTATION, undefined, 'On StatefulSets: major version of the engine.'],
    ],
  },
  {
    title: 'Simulated pods of the embedded control plane',
    text: 'On pods. [Simulated nodes](simulated-nodes.md)',
    rows: rows(SIMULATE, {
      pull: [`${DEFAULT_POD_TIMES.pull}ms`, 'How long the image pull takes.'],
      pullFailure: [undefined, 'The image cannot be pulled; the value is the reason, or `true`.'],
      start: [`${DEFAULT_POD_TIMES.start}ms`, 'How long the containers take to start.'],
      ready: [`${DEFAULT_POD_TIMES.ready}ms`, 'How long the pod runs before it is ready, or `never`.'],
      exitCode: ['0', 'Exit code of the containers: 0 to 255. They exit at once unless `exit-after` is set.'],
      exitAfter: [`never, or in a pod of a Job ${DEFAULT_POD_TIMES.job}ms`, 'How long the containers run, or `never`.'],
      stop: [`${DEFAULT_POD_TIMES.stop}ms`, 'How long a deleted pod takes to stop, or `never`: its grace period.'],
    }),
  },
  {
    title: 'CustomResourceDefinitions',
    text: 'Written when an operator installs its definitions.',
    writtenBy: 'operator',
    rows: [
      [DEFINITION_VERSION, undefined, 'Version of the definition: an older operator does not replace a newer one.'],
    ],
  },
]

const INTRODUCTION = `# Annotations

Generated from the code by \`npm run reference\`: do not edit. Every annotation that Tenure reads or writes, with its default.
`

/** Returns the reference page of all annotations. */
export function annotationsReference(): string {
  return [INTRODUCTION, ...SECTIONS.map(sectionText)].join('\n')
}

function sectionText({ rows: entries, text, title, writtenBy }: Section): string {
  const isSet = writtenBy === undefined
  const head = isSet
    ? '| Annotation | Default | Meaning |\n| --- | --- | --- |\n'
    : '| Annotation | Meaning |\n| --- | --- |\n'
  const lines = entries.map(([name, fallback, meaning]) => {
    const shown = name.includes(' ') ? name.replaceAll(/\b(?:extended-at|lease-start)\b/g, '`$&`') : `\`${name}\``
    const standard = fallback === undefined ? '–' : fallback.includes(' ') ? fallback : `\`${fallback}\``
    return `| ${(isSet ? [shown, standard, meaning] : [shown, meaning]).join(' | ')} |\n`
  })
  return `## ${title}\n\n${text}\n\n${head}${lines.join('')}`
}
