// npm run bench: measures Tenure and its peers with the same work in the same run: client and controllers against
// controller-runtime on one cluster, the embedded control plane against kube-apiserver and etcd, the template engine
// against Helm's.
import { programArguments } from '../scripts/program-help.ts'
import { startCluster } from '../test/cluster/cluster.ts'
import { bundleControlPlane, bundleImage, bundlePrograms } from './bundle.ts'
import { controlPlaneMeasurements } from './control-plane/measurements.ts'
import type { ControlPlaneMeasurement } from './control-plane/measurements.ts'
import { measureDashboard } from './dashboard/measure.ts'
import { measureTemplates } from './gotemplate/measure.ts'
import { npmStartRows } from './image/npm-start.ts'
import { operatorRows as imageOperatorRows } from './image/operators.ts'
import { measureLinearity } from './linearity/measure.ts'
import { measurements, OPERATOR_OPTIONS } from './measurements.ts'
import type { Measurement } from './measurements.ts'
import { operatorMeasurements } from './operators/measurements.ts'
import { buildPeer } from './peers/build.ts'
import { isReached, table } from './rows.ts'
import type { Row } from './rows.ts'
import { medians, runProgram } from './run-program.ts'

const HELP = {
  usage: 'npm run bench -- [options]',
  summary: 'Measure Tenure and its peers with the same work in the same run.',
  options: [
    {
      term: '--only <text>',
      meaning:
        'Only measurements whose name contains this text: informer, queue, reconcile, control plane, operators: leases, ' +
        'operators: claims, operators: databases, linearity, gotemplate, dashboard, image, npm start, …',
    },
    {
      term: '--rounds <n>',
      meaning: 'Runs per side, of which the median counts. Informer sync runs five times as often. (default 3)',
    },
    { term: '--kubeconfig <path>', meaning: 'Use this cluster instead of starting one.' },
  ],
}

const { values } = programArguments(HELP, {
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    kubeconfig: { type: 'string', default: '' },
  },
})
const { only, kubeconfig: given } = values
const rounds = Number(values.rounds)

const say = (text: string): void => void process.stderr.write(`${text}\n`)
const isAsked = ({ name }: { readonly name: string }): boolean => name.includes(only)

const programs = await bundlePrograms()
const controlPlaneBundle = await bundleControlPlane()
const asked = measurements.filter(isAsked)
const askedOfControlPlane = controlPlaneMeasurements.filter(isAsked)
const askedOfOperators = operatorMeasurements.filter(isAsked)
// Prints each table as soon as it is complete, because a later part takes long and may fail.
const rows = asked.length > 0 ? show(await compareWithControllerRuntime(asked), 'controller-runtime') : []
const controlPlaneRows = show(await compareWithKubernetes(askedOfControlPlane), 'kube-apiserver + etcd')
const operatorRows = askedOfOperators.length > 0 ? show(await compareWithBareClients(), 'without it') : []
const linearityRows = isAsked({ name: 'linearity' }) ? showLinearity() : []
const templateRows = isAsked({ name: 'gotemplate' })
  ? show(await measureTemplates({ rounds, say }), "Helm's engine in Go")
  : []
const dashboardRows = isAsked({ name: 'dashboard' }) ? show(await measureDashboard(say), 'without it') : []
const imageRows = isAsked({ name: 'image' }) ? show(await measureImage(), 'Node with TLS') : []
const startRows = isAsked({ name: 'npm start' }) ? show(await npmStartRows(say), 'without it') : []
const all = [
  ...rows,
  ...controlPlaneRows,
  ...operatorRows,
  ...linearityRows,
  ...templateRows,
  ...dashboardRows,
  ...imageRows,
  ...startRows,
]
const missed = all.filter((row) => !isReached(row))
console.log(
  missed.length === 0 ? '\nAll targets were met.' : `\n${missed.length} of ${all.length} targets were missed.`,
)

function show(measured: readonly Row[], peer: string): readonly Row[] {
  if (measured.length > 0) console.log(`\n${table(measured, peer)}`)
  return measured
}

function showLinearity(): readonly Row[] {
  const { rows: measured, table: text } = measureLinearity(say)
  console.log(`\n${text}`)
  return measured
}

async function compareWithControllerRuntime(chosen: readonly Measurement[]): Promise<readonly Row[]> {
  const peer = await buildPeer()
  const cluster = given ? undefined : await startCluster()
  const kubeconfig = cluster?.kubeconfig ?? given
  try {
    const rows: Row[] = []
    for (const measurement of chosen) {
      say(`▸ ${measurement.name}`)
      const common = ['--kubeconfig', kubeconfig]
      for (const args of measurement.prepare ?? []) await runProgram(peer, [...args, ...common])
      const theirs = []
      const ours = []
      const count = rounds * (measurement.times ?? 1)
      for (let round = 0; round < count; round++) {
        // Alternates the sides, so that other load on the machine affects both.
        if (measurement.peer) theirs.push(await runProgram(peer, [...measurement.peer, ...common]))
        const args = [...measurement.ours, ...common, '--writer', peer]
        const options = [...OPERATOR_OPTIONS, ...(measurement.node ?? [])]
        ours.push(await runProgram(process.execPath, [...options, programs[measurement.program], ...args]))
        say(`  round ${round + 1} of ${count}`)
      }
      rows.push(...measurement.rows(medians(ours), theirs.length > 0 ? medians(theirs) : {}))
    }
    return rows
  } finally {
    await cluster?.stop()
  }
}

/** Runs after the controller-runtime part has stopped its cluster, so that nothing else uses the machine. */
async function compareWithKubernetes(chosen: readonly ControlPlaneMeasurement[]): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const measurement of chosen) {
    say(`▸ ${measurement.name}`)
    rows.push(...(await measurement.rows({ bundle: controlPlaneBundle, rounds, say })))
  }
  return rows
}

/** Runs the operators on a cluster of their own, next to a client that does the same work directly. */
async function compareWithBareClients(): Promise<readonly Row[]> {
  const cluster = given ? undefined : await startCluster({ durable: true })
  try {
    const rows: Row[] = []
    for (const measurement of askedOfOperators) {
      say(`▸ ${measurement.name}`)
      const measured = await measurement.rows({ kubeconfig: cluster?.kubeconfig ?? given, say })
      // The table comes at the end, and a later measurement may fail.
      say(table(measured, 'without it'))
      rows.push(...measured)
    }
    return rows
  } finally {
    await cluster?.stop()
  }
}

/** Runs each operator of the image's bundle on a cluster of its own. */
async function measureImage(): Promise<readonly Row[]> {
  say('▸ image')
  const program = await bundleImage()
  const cluster = given ? undefined : await startCluster()
  try {
    return await imageOperatorRows({ kubeconfig: cluster?.kubeconfig ?? given, program, rounds, say })
  } finally {
    await cluster?.stop()
  }
}
