// The claims operator on the cluster of KUBECONFIG, as `tenure claims` runs it.
import { claims } from '@tenure/claims'
import { readConfiguration } from '@tenure/runtime/configuration'
import { operatorConfiguration, runOperator } from '../../../packages/tenure/src/run-operator.ts'

const argv = process.argv.slice(2)
const loaded = await readConfiguration(operatorConfiguration(claims), { argv, environment: process.env })
if (loaded.kind === 'help') throw new Error(loaded.text)
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort(new Error('SIGTERM')))
await runOperator(claims, loaded.values, stop.signal)
