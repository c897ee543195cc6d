// An operator on the cluster of KUBECONFIG, as `tenure <name>` runs it in an image. The first argument is its name.
import { readConfiguration } from '@tenure/runtime/configuration'
import { operatorEntries } from '../../../packages/tenure/src/operators.ts'
import { operatorConfiguration, runOperator } from '../../../packages/tenure/src/run-operator.ts'

const [name, ...argv] = process.argv.slice(2)
const entry = operatorEntries.find((each) => each.name === name)
if (!entry) throw new Error(`There is no operator ${name}`)
const operator = await entry.load()
const loaded = await readConfiguration(operatorConfiguration(operator), { argv, environment: process.env })
if (loaded.kind === 'help') throw new Error(loaded.text)
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort(new Error('SIGTERM')))
await runOperator(operator, loaded.values, stop.signal)
