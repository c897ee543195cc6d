/**
 * A replica of an operator that only leads or waits to lead. While it leads, it writes to a ConfigMap without pause and
 * ignores every signal: only the fenced client prevents forbidden writes. Every ten milliseconds it prints whether it
 * leads. On SIGUSR2 it stops itself, as by SIGSTOP, just before its next write.
 */
import './end-with-parent.ts'

import { setTimeout as wait } from 'node:timers/promises'

import { mergePatch, TenureError } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import {
  type Component,
  configure,
  createLogger,
  defineOperator,
  type OperatorContext,
  runOperators,
} from '@tenure/runtime'
import { leaderElectionConfig } from '@tenure/runtime/configuration'

import { monotonic } from './child.ts'

export interface CandidateSettings {
  readonly identity: string
  readonly namespace: string
  readonly lease: string
  /** The ConfigMap that it writes. */
  readonly work: string
  readonly leaseDuration?: number
  readonly renewDeadline?: number
  readonly retryPeriod?: number
}

/** A line of its output. Times are monotonic and taken before the action. */
export interface CandidateLine {
  readonly at: number
  /** The result of `isLeader()`: always if true, otherwise only if it changed. */
  readonly leads?: boolean
  /** The resourceVersion of its write. */
  readonly wrote?: string
  /** The error code of its failed write. */
  readonly failed?: string
  readonly frozen?: 'before' | 'after'
}

const SAMPLE_MS = 10
const PAUSE_MS = 15

const settings = JSON.parse(process.argv[2] ?? '{}') as CandidateSettings
const { identity, namespace, lease, work, ...timing } = settings

let isFreezeWanted = false
process.on('SIGUSR2', () => (isFreezeWanted = true))

function say(line: CandidateLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

function freeze(): void {
  isFreezeWanted = false
  say({ at: monotonic(), frozen: 'before' })
  process.kill(process.pid, 'SIGSTOP')
  // The stop may reach this thread a moment after the call has returned.
  for (const called = monotonic(); monotonic() < called + 50;);
  say({ at: monotonic(), frozen: 'after' })
}

function worker({ api }: OperatorContext): Component {
  const ended = new AbortController()
  let working: Promise<void> | undefined
  let writes = 0
  const write = async (): Promise<void> => {
    if (isFreezeWanted) freeze()
    const at = monotonic()
    try {
      const patch = mergePatch({ data: { writer: identity, at: String(at), write: String(++writes) } })
      const { metadata } = await api.patch(ConfigMap, { name: work, namespace }, patch, { signal: ended.signal })
      say({ at, wrote: metadata.resourceVersion })
    } catch (error) {
      say({ at, failed: error instanceof TenureError ? error.code : String(error) })
    }
  }
  const run = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await write()
      await wait(PAUSE_MS)
    }
  }
  return {
    name: 'work',
    start() {
      working = run()
      return Promise.resolve()
    },
    async stop() {
      ended.abort(new Error('The term is over'))
      await working
    },
  }
}

let isLeader = (): boolean => false
const candidate = defineOperator({
  name: identity,
  identity: { leaderLease: lease },
  config: leaderElectionConfig,
  setup(context) {
    isLeader = () => context.isLeader()
    return { components: [{ stage: 'lead', create: worker }] }
  },
})

let led = true
const sampling = setInterval(() => {
  const at = monotonic()
  const leads = isLeader()
  if (leads || led) say({ at, leads })
  led = leads
}, SAMPLE_MS)

try {
  await runOperators({
    operators: [
      configure(candidate, { enableLeaderElection: true, leaderElectionNamespace: namespace, podName: identity }),
    ],
    namespace,
    leaderElection: { whenLost: 'campaign', ...timing },
    log: await createLogger(),
  })
} finally {
  clearInterval(sampling)
}
