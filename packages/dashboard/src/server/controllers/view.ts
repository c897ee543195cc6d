import type { View, ViewListener } from '@tenure/http'
import { isDeepEqual } from '@tenure/kube/model'
import { Lease } from '@tenure/kube/kinds'
import type { ManagerContext, RunningOperator } from '@tenure/runtime'
import { z } from 'zod'
import { samplesOf } from './exposition.ts'
import { type ControllerRow, controllerRows, isControllerMetric, type OperatorFacts } from './rows.ts'

const READ_INTERVAL_MS = 2_000

const schema = z.object({
  id: z.string(),
  name: z.string(),
  operator: z.string(),
  isLeader: z.boolean(),
  leader: z.string().optional(),
  depth: z.number(),
  retries: z.number(),
  reconciles: z.number(),
  errors: z.number(),
  lastEventAt: z.int().optional(),
  durationSeconds: z.object({
    le: z.array(z.number()),
    counts: z.array(z.number()),
    sum: z.number(),
    count: z.number(),
  }),
})

/** The queues of this process and the leaders of its operators, read every two seconds while somebody looks. */
export function controllersView(
  operators: readonly RunningOperator[],
  { clock, log, metrics }: Pick<ManagerContext, 'clock' | 'log' | 'metrics'>,
): View<ControllerRow> {
  let rows: ReadonlyMap<string, ControllerRow> = new Map()
  const read = async (): Promise<ReadonlyMap<string, ControllerRow>> => {
    const [{ text }, facts] = await Promise.all([metrics.expose(), Promise.all(operators.map(factsOf))])
    return controllerRows(samplesOf(text, isControllerMetric), facts)
  }
  const refresh = async (listener: ViewListener): Promise<void> => {
    const before = rows
    rows = await read()
    for (const id of new Set([...before.keys(), ...rows.keys()]))
      if (!isDeepEqual(before.get(id), rows.get(id))) listener(id)
  }
  return {
    name: 'controllers',
    title: 'Controllers',
    schema,
    resourceOf: () => ({ group: 'coordination.k8s.io', resource: 'leases' }),
    rows: () => rows.values(),
    row: (id) => rows.get(id),
    subscribe(listener) {
      let isOpen = true
      let timer = clock.setTimer(0, () => void repeat())
      const repeat = async (): Promise<void> => {
        try {
          await refresh(listener)
        } catch (error) {
          log.debug('controllers could not be read', { error })
        }
        if (isOpen) timer = clock.setTimer(READ_INTERVAL_MS, () => void repeat())
      }
      return () => {
        isOpen = false
        timer.cancel()
      }
    },
  }
}

async function factsOf({ context, operator, queues }: RunningOperator): Promise<OperatorFacts> {
  const { api, identity, isLeader } = context
  const leads = isLeader()
  return {
    name: operator.name,
    isLeader: leads,
    leader: leads ? identity.process : identity.lease && (await holderOf(api, identity.lease)),
    queues: queues.map(({ informers = [], name }) => ({ name, lastEventAt: latest(informers) })),
  }
}

function latest(informers: readonly { readonly lastEventAt: number | undefined }[]): number | undefined {
  const times = informers.flatMap(({ lastEventAt = [] }) => lastEventAt)
  return times.length === 0 ? undefined : Math.max(...times)
}

/** Undefined if the Lease cannot be read: the view shows what is known. */
async function holderOf(
  api: ManagerContext['api'],
  lease: { readonly name: string; readonly namespace: string },
): Promise<string | undefined> {
  try {
    return (await api.get(Lease, lease)).spec?.holderIdentity
  } catch {
    return undefined
  }
}
