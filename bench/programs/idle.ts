import type { Transport } from '@tenure/kube'
import { defineKind } from '@tenure/kube'
import { apply, controller, defineOperator, runOperators } from '@tenure/runtime'
import { ConfigMap, connect } from './cluster.ts'
import { run } from './run.ts'
import { usage } from './usage.ts'
import type { Flags } from './usage.ts'

const Secret = defineKind({ apiVersion: 'v1', kind: 'Secret' })

/**
 * Measures an operator in steady state: 200 ConfigMaps with one child each, converged, with leader election. Counts the
 * requests of `seconds`, watches and lease renewals separately, and CPU time.
 */
async function idle(flag: Flags): Promise<object> {
  const namespace = flag('namespace')
  const seconds = Number(flag('seconds'))
  const { transport, client } = await connect(flag('kubeconfig'))
  const sent = { others: 0, leases: 0 }
  const counting: Transport = {
    request(request) {
      if (request.path.includes('/leases')) sent.leases++
      // `stream` does not tell them apart, because lists are streamed as well.
      else if (!/[?&]watch=/.test(request.path)) sent.others++
      return transport.request(request)
    },
    close: () => transport.close(),
  }
  const children = controller(ConfigMap, {
    name: 'idle',
    selection: { namespace, labelSelector: 'idle=true' },
    owns: [{ kind: Secret, selection: { namespace } }],
    plan: ({ object }) => [apply(Secret, { metadata: { name: object.metadata.name } })],
  })
  for (let index = 0; index < 200; index++) {
    const metadata = { name: `idle-${index}`, namespace, labels: { idle: 'true' } }
    await client.apply(ConfigMap, { metadata }, { force: true, fieldManager: 'seed' })
  }
  const end = new AbortController()
  const operator = defineOperator({
    name: 'idle',
    identity: { leaderLease: 'idle' },
    setup: () => ({ controllers: [children] }),
  })
  const running = runOperators({ operators: [operator], transport: counting, namespace }, end.signal)
  await settled(() => sent.others)
  Object.assign(sent, { others: 0, leases: 0 })
  const before = usage().cpuMs
  await pause(seconds * 1_000)
  const result = { ...sent, cpuMsPerSecond: (usage().cpuMs - before) / seconds }
  end.abort()
  await running
  await transport.close()
  return result
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** Waits until the count is above zero and has not changed for a second. */
async function settled(count: () => number): Promise<void> {
  let before: number
  do {
    before = count()
    await pause(1_000)
  } while (count() === 0 || count() !== before)
}

await run({ idle })
