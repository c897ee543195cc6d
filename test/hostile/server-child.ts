/**
 * The server under attack, in a process of its own: the embedded control plane and the operators' HTTP APIs. It measures
 * how long its main thread works without a turn of the event loop, in CPU time, which a busy machine does not change.
 */
import { systemClock, systemRandom } from '@tenure/kube'
import { httpServer } from '@tenure/http'
import { runOperators, silentLogger } from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'
import { assembleControlPlane } from '../../packages/controlplane/src/control-plane.ts'
import { openStorage } from '../../packages/controlplane/src/storage/open.ts'
import { operators } from '../../packages/tenure/src/loaded-operators.ts'
import type { Asked, LongestTurn, ServerReady, ServerStatistics } from './messages.ts'

const TICK_MS = 20
const [directory = '', port = '0', parts = 'all'] = process.argv.slice(2)

let longest: LongestTurn = { cpu: 0, wall: 0 }
let longestWait = 0
let last = { wall: performance.now(), cpu: cpuTime() }

function cpuTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

function measureTurn(): void {
  const now = { wall: performance.now(), cpu: cpuTime() }
  const turn = { wall: now.wall - last.wall - TICK_MS, cpu: now.cpu - last.cpu }
  if (turn.cpu > longest.cpu) longest = turn
  longestWait = Math.max(longestWait, turn.wall - turn.cpu)
  last = now
}

function tick(): void {
  measureTurn()
  systemClock.setTimer(TICK_MS, tick)
}
tick()

const tell = (message: ServerReady | ServerStatistics): void => void process.send?.(message)

// Without history, memory holds only what is stored.
const history = { changes: 10 }
const storage = await openStorage({
  directory: directory || undefined,
  clock: systemClock,
  log: silentLogger,
  ...(directory === '' && { history }),
})
const { plane } = await assembleControlPlane({ directory: directory || undefined, port: Number(port) }, { storage })
let http = ''
let guarded = ''
if (parts === 'all') {
  const open = Promise.withResolvers<string>()
  const withTokens = Promise.withResolvers<string>()
  const address = '127.0.0.1:0'
  void runOperators(
    {
      operators: operators.map((operator) => ({
        operator,
        settings: {
          ...defaultValues(operator.config),
          // Requests store only in the attacked namespace.
          ...(operator.name === 'claims' && { namespace: 'hostile' }),
          // Its server is never there: the routes must hold all the same.
          ...(operator.name === 'databases' && { dbPassword: 'unused' }),
        },
      })),
      transport: plane.transport,
      clock: systemClock,
      random: systemRandom,
      webhooks: 'loopback',
      servers: [
        httpServer({ address, onListening: ({ url }) => open.resolve(url) }),
        httpServer({ address, authentication: 'token', onListening: ({ url }) => withTokens.resolve(url) }),
      ],
    },
    new AbortController().signal,
  )
  http = await open.promise
  guarded = await withTokens.promise
}
process.on('message', (asked: Asked) => {
  measureTurn()
  if (asked === 'collect') {
    globalThis.gc?.()
    globalThis.gc?.()
    // The collections that a test asks for are not work for a request.
    last = { wall: performance.now(), cpu: cpuTime() }
  }
  const { heapUsed, external } = process.memoryUsage()
  const isPolluted = Object.keys(Object.prototype).length > 0
  tell({ type: 'statistics', longest, longestWait, memory: heapUsed + external, isPolluted })
  longest = { cpu: 0, wall: 0 }
})
process.on('disconnect', () => process.exit())
tell({ type: 'ready', url: plane.url ?? '', token: plane.token, http, guarded })
