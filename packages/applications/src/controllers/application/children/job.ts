import type { Job } from '@tenure/kube/kinds'
import { ANNOTATIONS, type ApplicationSpec } from '../../../api/index.ts'
import { childNames, labelsOf } from './identity.ts'
import { podTemplate } from './pod-template.ts'
import { revisionOf } from './revision.ts'

/** The Job that runs an Application once; `replicas` pods have to finish. */
export function jobFor(name: string, spec: ApplicationSpec): Job {
  const labels = labelsOf(name)
  const template = podTemplate(name, spec, { restartPolicy: 'Never' })
  return {
    metadata: {
      name: childNames(name).workload,
      labels,
      annotations: { [ANNOTATIONS.revision]: revisionOf(template, spec.replicas) },
    },
    spec: { parallelism: spec.replicas, completions: spec.replicas, template },
  }
}

/** A Job is immutable: one of another revision has to be deleted first. */
export function isOutdated(live: Job, wanted: Job): boolean {
  return live.metadata?.annotations?.[ANNOTATIONS.revision] !== wanted.metadata?.annotations?.[ANNOTATIONS.revision]
}
