import type { Stored } from '@tenure/kube'
import { ConfigMap, type Job } from '@tenure/kube/kinds'
import type { Facts, Logger } from '@tenure/runtime'
import type { RecordedRequest } from '@tenure/runtime/testing'
import { JOB_LABELS } from '../api/labels.ts'
import { type Process, SEED, withJob, World } from './lease-harness.ts'

/** The label of jobs that stay after their end. */
export const HELD = SEED + JOB_LABELS.held

export function isHeld({ metadata, spec }: Stored<Job>): boolean {
  const isMarked = metadata.labels?.[HELD] === 'true'
  if (isMarked !== (spec?.ttlSecondsAfterFinished === undefined)) throw new Error(`${metadata.name} is neither`)
  return isMarked
}

/** With a script to run, and a log to read. */
export class JobWorld extends World {
  readonly warnings: { readonly message: string; readonly facts: Facts | undefined }[] = []
  readonly log: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message, facts) => void this.warnings.push({ message, facts }),
    error: (message, facts) => void this.warnings.push({ message, facts }),
    child: () => this.log,
  }

  constructor() {
    super()
    this.server.seed(ConfigMap, { metadata: { name: 'scripts', namespace: 'shop' }, data: { 'run.sh': '#!/bin/sh' } })
  }

  get heldJobs(): readonly Stored<Job>[] {
    return this.jobs.filter(isHeld)
  }

  /** The time that the server gives a job after its end. */
  ttlOf(job: string): number | undefined {
    return this.jobs.find(({ metadata }) => metadata.name === job)?.spec?.ttlSecondsAfterFinished
  }

  asked(verb: RecordedRequest['verb'], plural = 'jobs'): readonly RecordedRequest[] {
    return this.server.requests.filter((request) => request.plural === plural && request.verb === verb)
  }

  /** An object, `one`, whose lease has ended and that waits for its job; with the process that waits. */
  async waiting(more: Readonly<Record<string, string>> = {}): Promise<Process> {
    const annotations = withJob({ 'job-wait': 'true', ...more })
    if (this.object('one')) this.annotate('one', annotations)
    else this.create('one', annotations)
    const process = await this.start({ log: this.log })
    await this.clock.advance(62_000)
    const isWaiting = this.notes('one')['cleanup-job-record']?.includes('running')
    if (!isWaiting || !isHeld(this.firstJob)) throw new Error('nothing waits')
    return process
  }

  /** The clock, as users write it. */
  get time(): string {
    return new Date(this.clock.now()).toISOString()
  }
}
