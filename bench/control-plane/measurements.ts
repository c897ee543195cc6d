import { rm } from 'node:fs/promises'
import { figure } from '../rows.ts'
import type { Figures, Row } from '../rows.ts'
import { medians, runProgram } from '../run-program.ts'
import { Generators } from './generators.ts'
import type { Phase } from './generators.ts'
import { rssMb } from './processes.ts'
import { startEmbedded, startPair, temporaryDirectory } from './servers.ts'
import type { Server } from './servers.ts'

export interface ControlPlaneMeasurement {
  readonly name: string
  rows(context: {
    /** Path of the bundled programs. */
    readonly bundle: string
    readonly rounds: number
    readonly say: (text: string) => void
  }): Promise<readonly Row[]>
}

const CLIENTS = 16
const OBJECTS = 2000
/** A single process with sixteen clients would be busier than the server. */
const GENERATORS = 2
const STORED = 100_000

const onRatio = (is: 'at most' | 'at least', limit: number): Row['bound'] => ({ on: 'ratio', is, limit })
const onValue = (limit: number): Row['bound'] => ({ on: 'value', is: 'at most', limit })

const VERBS = [
  ['create', 'creates'],
  ['get', 'gets'],
  ['patch', 'merge patches'],
  ['apply', 'server-side applies'],
  ['delete', 'deletes'],
] as const satisfies readonly (readonly [Phase, string])[]

export const controlPlaneMeasurements: readonly ControlPlaneMeasurement[] = [
  {
    name: 'control plane: requests',
    async rows({ bundle, rounds, say }) {
      const ours: Figures[] = []
      const theirs: Figures[] = []
      for (let round = 0; round < rounds; round++) {
        theirs.push(await requests(await startPair(), bundle))
        ours.push(await requests(await startEmbedded(bundle), bundle))
        say(`  round ${round + 1} of ${rounds}`)
      }
      return requestRows(medians(ours), medians(theirs))
    },
  },
  {
    name: 'control plane: load from disk',
    async rows({ bundle, rounds, say }) {
      const directory = await temporaryDirectory()
      const opened: Figures[] = []
      const started: Figures[] = []
      try {
        await program(bundle, 'fill', { directory, count: STORED })
        for (let round = 0; round < rounds; round++) {
          opened.push(await program(bundle, 'open', { directory }))
          say(`  round ${round + 1} of ${rounds}`)
        }
        // Runs last, because stopping this server removes its directory.
        const server = await startEmbedded(bundle, directory)
        started.push({ readyMs: server.readyMs, rssMb: rssMb(server.pids) })
        await server.stop()
      } finally {
        await rm(directory, { recursive: true, force: true })
      }
      const [start = {}] = started
      return [
        only('100,000 objects of 1 KB loaded from disk', 'ms', figure(medians(opened), 'wallMs'), onValue(3000)),
        only('… from the start of the process to ready', 'ms', figure(start, 'readyMs')),
        only('… RSS', 'MB', figure(start, 'rssMb')),
      ]
    },
  },
  {
    name: 'control plane: watchers',
    async rows({ bundle, rounds, say }) {
      const runs: Figures[] = []
      for (let round = 0; round < rounds; round++) {
        const server = await startEmbedded(bundle)
        try {
          const load = { watchers: 1000, 'per-second': 100, seconds: 5 }
          runs.push(await program(bundle, 'watch', { kubeconfig: server.kubeconfig, ...load }))
        } finally {
          await server.stop()
        }
        say(`  round ${round + 1} of ${rounds}`)
      }
      const watched = medians(runs)
      const lost = runs.reduce((sum, run) => sum + figure(run, 'missing') + figure(run, 'outOfOrder'), 0)
      return [
        only('1,000 watchers, 100 events/s for 5 s: missing or out of order', '', lost, onValue(0)),
        only('… delay from the write, 99th percentile', 'ms', figure(watched, 'p99Ms'), onValue(100)),
        only('… delay from the write, median', 'ms', figure(watched, 'medianMs')),
        only('… 99th percentile of the second before, while code is compiled', 'ms', figure(watched, 'firstP99Ms')),
        only('… CPU use of the watching process', '%', figure(watched, 'generatorLoad') * 100),
      ]
    },
  },
  {
    name: 'control plane: in process',
    async rows({ bundle, rounds }) {
      const runs: Figures[] = []
      for (let round = 0; round < rounds; round++) runs.push(await program(bundle, 'in-process', { count: 5000 }))
      const figures = medians(runs)
      return [
        only('in-process get', 'µs', figure(figures, 'getUs'), onValue(20)),
        only('in-process apply', 'µs', figure(figures, 'applyUs'), onValue(300)),
      ]
    },
  },
]

/** Runs every phase once on a server that has just started, then stops it. */
async function requests(server: Server, bundle: string): Promise<Figures> {
  const common = ['--kubeconfig', server.kubeconfig, '--parts', String(GENERATORS)]
  const load = ['--clients', String(CLIENTS), '--count', String(OBJECTS)]
  const parts = Array.from({ length: GENERATORS }, (_, part) => [...common, ...load, '--part', String(part)])
  const generators = new Generators(bundle, server.pids, parts)
  try {
    const figures: Record<string, number> = { readyMs: server.readyMs }
    let busiest = 0
    await generators.run('prepare')
    for (const phase of ['create', 'get', 'patch', 'apply', 'list', 'delete'] as const) {
      const { wallMs, serverCpuMs, bytes, generatorLoad } = await generators.run(phase)
      if (phase === 'list') {
        figures['listMbPerSecond'] = bytes / 1000 / wallMs
        figures['listCpuMsPerMb'] = (serverCpuMs / bytes) * 1e6
        figures['listGeneratorLoad'] = generatorLoad
        continue
      }
      figures[`${phase}PerSecond`] = (OBJECTS / wallMs) * 1000
      figures[`${phase}CpuUs`] = (serverCpuMs * 1000) / OBJECTS
      busiest = Math.max(busiest, generatorLoad)
    }
    return { ...figures, rssMb: rssMb(server.pids), generatorLoad: busiest }
  } finally {
    await generators.close()
    await server.stop()
  }
}

function requestRows(ours: Figures, peer: Figures): readonly Row[] {
  const compare = (what: string, unit: string, name: string, bound?: Row['bound'], factor = 1): Row => ({
    what,
    unit,
    ours: figure(ours, name) * factor,
    peer: figure(peer, name) * factor,
    bound,
  })
  return [
    ...VERBS.flatMap(([phase, what]) => [
      compare(`${what} per second, 16 clients`, '', `${phase}PerSecond`, onRatio('at least', 2)),
      compare("… CPU of the server's processes per request", 'µs', `${phase}CpuUs`, onRatio('at most', 0.33)),
    ]),
    compare('lists of 2,000 ConfigMaps of 1 KB', 'MB/s', 'listMbPerSecond', onRatio('at least', 3)),
    compare("… CPU of the server's processes per MB", 'ms', 'listCpuMsPerMb'),
    compare('ready after', 'ms', 'readyMs', onRatio('at most', 0.25)),
    compare('RSS after all phases', 'MB', 'rssMb', onRatio('at most', 0.35)),
    compare('CPU use of the busier load generator: requests', '%', 'generatorLoad', undefined, 100),
    compare('… lists', '%', 'listGeneratorLoad', undefined, 100),
  ]
}

function only(what: string, unit: string, ours: number, bound?: Row['bound']): Row {
  return { what, unit, ours, peer: undefined, bound }
}

function program(bundle: string, name: string, flags: Readonly<Record<string, string | number>>): Promise<Figures> {
  const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)])
  return runProgram(process.execPath, [bundle, name, ...args])
}
