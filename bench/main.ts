// npm run bench: the same work with Tenure and with controller-runtime, on the same cluster in the same run.
//   --only <text>   only measurements whose name contains it
//   --rounds <n>    runs of each side, of which the median counts (default 3)
//   --kubeconfig <path>   use this cluster instead of starting one
import { startCluster } from '../test/cluster/cluster.ts'
import { bundlePrograms } from './bundle.ts'
import { measurements, PRODUCTION_OPTIONS } from './measurements.ts'
import { buildPeer } from './peers/build.ts'
import { flags } from './programs/usage.ts'
import { isReached, table } from './rows.ts'
import type { Row } from './rows.ts'
import { medians, runProgram } from './run-program.ts'

const flag = flags(process.argv.slice(2))
const only = flag('only', '')
const rounds = Number(flag('rounds', '3'))
const given = flag('kubeconfig', '')

const say = (text: string): void => void process.stderr.write(`${text}\n`)

const peer = await buildPeer()
const bundle = await bundlePrograms()
const cluster = given ? undefined : await startCluster()
const kubeconfig = cluster?.kubeconfig ?? given
try {
  const rows: Row[] = []
  for (const measurement of measurements.filter(({ name }) => name.includes(only))) {
    say(`▸ ${measurement.name}`)
    const common = ['--kubeconfig', kubeconfig]
    for (const args of measurement.prepare ?? []) await runProgram(peer, [...args, ...common])
    const theirs = []
    const ours = []
    for (let round = 0; round < rounds; round++) {
      // In turn, so that what else the machine does falls on both.
      if (measurement.peer) theirs.push(await runProgram(peer, [...measurement.peer, ...common]))
      const args = [...measurement.ours, ...common, '--writer', peer]
      const options = [...PRODUCTION_OPTIONS, ...(measurement.node ?? []), '--expose-gc']
      ours.push(await runProgram(process.execPath, [...options, bundle, ...args]))
      say(`  round ${round + 1} of ${rounds}`)
    }
    rows.push(...measurement.rows(medians(ours), theirs.length > 0 ? medians(theirs) : {}))
  }
  console.log(`\n${table(rows)}\n`)
  const missed = rows.filter((row) => !isReached(row))
  console.log(missed.length === 0 ? 'Every figure was reached.' : `${missed.length} of ${rows.length} were missed.`)
} finally {
  await cluster?.stop()
}
