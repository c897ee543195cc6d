import { type RecordedRequest, TestControlPlane } from '@tenure/controlplane/testing'
import type { Stored } from '@tenure/kube'
import { ConfigMap, type Job } from '@tenure/kube/kinds'
import { VirtualClock } from '@tenure/kube/testing'
import type { Facts, Logger } from '@tenure/runtime'
import { JOB_LABELS } from '../api/labels.ts'
import { LeaseHarness, type LeaseProcess, SEED, withJob } from './lease-harness.ts'

/** The label of held jobs. */
export const HELD = SEED + JOB_LABELS.held

export function isHeld({ metadata, spec }: Stored<Job>): boolean {
  const isMarked = metadata.labels?.[HELD] === 'true'
  if (isMarked !== (spec?.ttlSecondsAfterFinished === undefined))
    throw new Error(`${metadata.name} is held without the label, or the other way round`)
  return isMarked
}

/** A LeaseHarness with a script to run and a log to inspect. */
export class CleanupHarness extends LeaseHarness {
  readonly warnings: { readonly message: string; readonly facts: Facts | undefined }[] = []
  readonly log: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message, facts) => void this.warnings.push({ message, facts }),
    error: (message, facts) => void this.warnings.push({ message, facts }),
    child: () => this.log,
  }

  static override async create(): Promise<CleanupHarness> {
    const clock = new VirtualClock()
    const harness = new CleanupHarness(clock, await TestControlPlane.start({ clock, namespaces: ['shop'] }))
    const metadata = { name: 'scripts', namespace: 'shop' }
    harness.server.seed(ConfigMap, { metadata, data: { 'run.sh': '#!/bin/sh' } })
    return harness
  }

  get heldJobs(): readonly Stored<Job>[] {
    return this.jobs.filter(isHeld)
  }

  /** `ttlSecondsAfterFinished` of a job. */
  ttlOf(job: string): number | undefined {
    return this.jobs.find(({ metadata }) => metadata.name === job)?.spec?.ttlSecondsAfterFinished
  }

  requestsOf(verb: RecordedRequest['verb'], plural = 'jobs'): readonly RecordedRequest[] {
    return this.server.requests.filter((request) => request.plural === plural && request.verb === verb)
  }

  /** Creates an expired object `one` that waits for its job; returns the process that waits. */
  async waiting(more: Readonly<Record<string, string>> = {}): Promise<LeaseProcess> {
    const annotations = withJob({ 'job-wait': 'true', ...more })
    if (this.object('one')) this.annotate('one', annotations)
    else this.create('one', annotations)
    const process = await this.start({ log: this.log })
    await this.clock.advance(62_000)
    const isWaiting = this.annotations('one')['cleanup-job-record']?.includes('running')
    if (!isWaiting || !isHeld(this.firstJob)) throw new Error('one does not wait for its job')
    return process
  }

  /** The current time, as users write it. */
  get time(): string {
    return new Date(this.clock.now()).toISOString()
  }
}
